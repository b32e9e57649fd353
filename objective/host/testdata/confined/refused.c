/* Doubles a vector if the system refuses what the parameter names. WHEN says whether it is
 * tried while the kernel is loaded, or by a launch. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	/* what is allowed */
	signal_itself, signal_thread, signal_group, ask_handler, ask_limit, own_cores, name_thread, own_memory,
	/* signals to others */
	signal_parent, signal_thread_of_parent, signal_everybody, signal_group_of_parent, queue_signal, signal_descriptor,
	signal_owner, signal_number, alarm_clock, posix_timer,
	/* signals that only others send */
	kill_itself, end_itself, kill_own_thread, kill_own_group,
	/* handlers, filters, modes */
	handle_sigsys, handle_sigsegv, filter_calls, filter_by_prctl, not_dumpable, parent_death_signal,
	/* other processes */
	trace_parent, trace_me, limit_parent, limit_itself, join_group, new_session, read_parent, write_parent, open_parent,
	compare_parent, schedule_parent, schedule_itself, priority_of_parent, count_parent,
	/* new processes */
	fork_process, clone_process, execute, unshare_namespace,
	/* files */
	write_file, remove_own_file, rename_file, make_folder, change_mode, truncate_file,
	shrink_pipe, close_pipe, replace_pipe, connect_socket, memory_file, ring, page_faults, watch_folder,
	/* code */
	write_code, write_own_code, new_code, move_code,
	/* threads that stop who waits for them */
	thread_as_vfork, thread_traced,
	/* files of others */
	memory_of_parent, environment_of_parent, line_of_parent, own_memory_file, own_environment, passwords, home, temporary_files
};

static struct sock_filter nothing[] = {{0x06, 0, 0, 0x7fff0000}};
static struct sock_fprog program = {1, nothing};
static void handler(int n) { (void)n; }
static char bytes[8];
static struct iovec here = {bytes, 8}, there = {bytes, 8};
static struct rlimit limit = {64, 64};
static struct sched_param first = {1};

static char stack[1 << 14] __attribute__((aligned(64)));

static long open_of(pid_t process, const char *name) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
	return open(path, O_RDONLY);
}

/* What comes out, as of a system call. */
static long attempt(void) {
	long page = sysconf(_SC_PAGESIZE);
	siginfo_t info = {.si_code = SI_QUEUE};
	struct sigaction action = {.sa_handler = handler};
	pid_t parent = getppid(), own = getpid();
	cpu_set_t cores;
	switch (MODE) {
	case signal_itself: return kill(own, 0);
	case signal_thread: return syscall(SYS_tgkill, own, syscall(SYS_gettid), 0);
	case signal_group: return kill(0, 0) || kill(-own, 0);
	case ask_handler: return sigaction(SIGSEGV, NULL, &action);
	case ask_limit: return getrlimit(RLIMIT_NOFILE, &limit);
	case own_cores: return sched_getaffinity(0, sizeof cores, &cores) || sched_setaffinity(0, sizeof cores, &cores);
	case name_thread: return prctl(PR_SET_NAME, "kernel");
	case own_memory: {
		char *all = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return mprotect(all, 1 << 20, PROT_READ | PROT_WRITE) || madvise(all, 1 << 20, MADV_DONTNEED) || munmap(all, 1 << 20);
	}
	case signal_parent: return kill(parent, 0);
	case signal_thread_of_parent: return syscall(SYS_tgkill, parent, parent, 0) && syscall(SYS_tkill, parent, 0) ? -1 : 0;
	case signal_everybody: return kill(-1, 0);
	case signal_group_of_parent: return kill(-getpgid(parent), 0);
	case queue_signal: return syscall(SYS_rt_sigqueueinfo, parent, 0, &info);
	case signal_descriptor: return syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, parent, 0), 0, 0, 0);
	case signal_owner: return fcntl(3, F_SETOWN, parent);
	case signal_number: return fcntl(3, 10 /* F_SETSIG */, SIGKILL);
	case alarm_clock: return setitimer(0, &(struct itimerval){.it_value = {1000, 0}}, NULL);
	case posix_timer: return syscall(SYS_timer_create, 1, NULL, bytes);
	case kill_itself: return kill(own, SIGKILL);
	case end_itself: return kill(own, SIGTERM);
	case kill_own_thread: return syscall(SYS_tgkill, own, syscall(SYS_gettid), SIGKILL);
	case kill_own_group: return kill(0, SIGINT);
	case handle_sigsys: return sigaction(SIGSYS, &action, NULL);
	case handle_sigsegv: return sigaction(SIGSEGV, &action, NULL);
	case filter_calls: return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	case filter_by_prctl: return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	case not_dumpable: return prctl(PR_SET_DUMPABLE, 0);
	case parent_death_signal: return prctl(PR_SET_PDEATHSIG, 0);
	case trace_parent: return ptrace(PTRACE_ATTACH, parent, 0, 0);
	case trace_me: return ptrace(PTRACE_TRACEME, 0, 0, 0);
	case limit_parent: return prlimit(parent, RLIMIT_NOFILE, &limit, NULL);
	case limit_itself: return setrlimit(RLIMIT_NOFILE, &limit);
	case join_group: return setpgid(0, getpgid(parent));
	case new_session: return setsid();
	case read_parent: return process_vm_readv(parent, &here, 1, &there, 1, 0);
	case write_parent: return process_vm_writev(parent, &here, 1, &there, 1, 0);
	case open_parent: return syscall(SYS_pidfd_open, parent, 0);
	case compare_parent: return syscall(SYS_kcmp, parent, own, 0, 1, 1);
	case schedule_parent: return sched_setscheduler(parent, SCHED_FIFO, &first);
	case schedule_itself: return sched_setscheduler(0, SCHED_FIFO, &first);
	case priority_of_parent: return setpriority(PRIO_PROCESS, parent, 19);
	case count_parent: return syscall(SYS_perf_event_open, bytes, parent, -1, -1, 0);
	case fork_process: { pid_t child = fork(); if (child == 0) _exit(0); return child; }
	case clone_process: return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	case execute: return execl("/bin/true", "true", NULL);
	case unshare_namespace: return unshare(CLONE_NEWUSER);
	case write_file: return open("written", O_WRONLY | O_CREAT, 0600);
	case remove_own_file: return unlink(__FILE__);
	case rename_file: return rename(__FILE__, "renamed");
	case make_folder: return mkdir("made", 0700);
	case change_mode: return chmod(".", 0700);
	case truncate_file: return truncate(__FILE__, 0);
	case shrink_pipe: return fcntl(4, 1031 /* F_SETPIPE_SZ */, 4096);
	case close_pipe: return close(3) && close(4) ? -1 : 0;
	case replace_pipe: return dup2(1, 4);
	case connect_socket: return socket(AF_UNIX, SOCK_STREAM, 0);
	case memory_file: return syscall(SYS_memfd_create, "file", 0);
	case ring: return syscall(SYS_io_uring_setup, 4, bytes);
	case page_faults: return syscall(SYS_userfaultfd, 0);
	case watch_folder: return syscall(SYS_inotify_init1, 0);
	case write_code: return mprotect((void *)((uintptr_t)sysconf & ~(uintptr_t)(page - 1)), page, PROT_READ | PROT_WRITE | PROT_EXEC);
	case write_own_code: return mprotect((void *)((uintptr_t)attempt & ~(uintptr_t)(page - 1)), page, PROT_READ | PROT_EXEC);
	case new_code: return mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
	case move_code: {
		void *own_page = (void *)((uintptr_t)attempt & ~(uintptr_t)(page - 1)), *other = bytes - (uintptr_t)bytes % page;
		return mremap(own_page, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other) == MAP_FAILED ? -1 : 0;
	}
	case thread_as_vfork: return syscall(SYS_clone, 0x50f00 | CLONE_VFORK, stack + sizeof stack, 0, 0, 0);
	case thread_traced: return syscall(SYS_clone, 0x50f00 | CLONE_PTRACE, stack + sizeof stack, 0, 0, 0);
	case memory_of_parent: return open_of(parent, "mem");
	case environment_of_parent: return open_of(parent, "environ");
	case line_of_parent: return open_of(parent, "cmdline");
	case own_memory_file: return open("/proc/self/mem", O_RDONLY);
	case own_environment: return open("/proc/self/environ", O_RDONLY);
	case passwords: return open("/etc/passwd", O_RDONLY);
	case home: return open("/root", O_RDONLY) < 0 && open("/home", O_RDONLY) < 0 ? -1 : 0;
	case temporary_files: return open("/tmp", O_RDONLY);
	}
	return -1;
}

static int right(void) {
	errno = 0;
	long came = attempt();
	if (MODE < signal_parent) return came == 0;
	return came < 0 && (errno == EPERM || errno == EACCES || errno == EMFILE);
}

static int was_right = 1;
#if WHEN
__attribute__((constructor)) static void loading(void) { was_right = right(); }
#endif

void twice(const float *x, float *y, int32_t N) {
	int is_right = WHEN ? was_right : right();
	for (int i = 0; i < N; i++) y[i] = is_right ? 2 * x[i] : 0;
}
