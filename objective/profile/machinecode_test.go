package profile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
)

// listing has the shape of what nvdisasm prints: two kernels, of which the first has an
// outer loop, an inner one with a tensor-core instruction, another inner one that is longer,
// and the jump to itself at the end.
const listing = `
	.target	sm_90
//--------------------- .text.first --------------------------
	.section	.text.first,"ax",@progbits
first:
.text.first:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_3:
        /*0010*/                   S2R R0, SR_TID.X ;
.L_x_1:
        /*0020*/                   LDSM.16.M88.4 R4, [R0] ;
        /*0030*/                   HMMA.16816.F32 R8, R4, R6, R8 ;
        /*0040*/              @!P0 BRA ` + "`(.L_x_1)" + ` ;
.L_x_2:
        /*0050*/                   LDG.E R2, desc[UR4][R2.64] ;
        /*0060*/                   MUFU.EX2 R3, R2 ;
        /*0070*/                   F2FP.F16.F32.PACK_AB R3, RZ, R3 ;
        /*0080*/              @UP0 STG.E desc[UR4][R2.64], R3 ;
        /*0090*/               @P0 BRA ` + "`(.L_x_2)" + ` ;
        /*00a0*/                   STL [R1], R3 ;
        /*00b0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00c0*/               @P1 BRA ` + "`(.L_x_3)" + ` ;
        /*00d0*/                   EXIT ;
.L_x_4:
        /*00e0*/                   BRA ` + "`(.L_x_4)" + `;
        /*00f0*/                   NOP;
	.section	.text.second,"ax",@progbits
        /*0000*/                   FADD R1, R2, R3 ;
        /*0010*/                   EXIT ;
`

func TestParseCode(t *testing.T) {
	mix, err := parseCode([]byte(listing), "first")
	if err != nil {
		t.Fatal(err)
	}
	all := Counts{
		Instructions: 15, "tensor": 1, "special": 1, "conversion": 1, "global": 2, "shared": 1, "local": 1, "barrier": 1,
		"control": 5, "other": 2,
	}
	if !maps.Equal(mix.All, all) {
		t.Errorf("all: %+v", mix.All)
	}
	if loop := (Counts{Instructions: 3, "tensor": 1, "shared": 1, "control": 1}); !maps.Equal(mix.Loop, loop) {
		t.Errorf("the hot loop: %+v", mix.Loop)
	}
	if got, want := mix.Loop.String(), "3 (1 tensor-core, 1 shared-memory, 1 control)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if mix, err = parseCode([]byte(listing), "second"); err != nil || mix.All["float"] != 1 || len(mix.Loop) > 0 {
		t.Errorf("%+v, %v", mix, err)
	}
	if _, err := parseCode([]byte(listing), "third"); err == nil || !strings.Contains(err.Error(), "third") {
		t.Errorf("a kernel that is not there: %v", err)
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add([]byte(listing))
	f.Add([]byte("\t.section .text.first\n /*0*/ BRA `(.L) ;\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		mix, err := parseCode(text, "first")
		if err != nil {
			return
		}
		sum := 0
		for _, kind := range kinds {
			sum += mix.All[kind.name]
		}
		if all := mix.All[Instructions]; all == 0 || sum != all || mix.Loop[Instructions] > all {
			t.Errorf("%+v", mix)
		}
	})
}

// What real tools say of a real kernel: a loop of fused multiply-adds over shared memory.
func TestRealTools(t *testing.T) {
	tool, err := nvcc.Find(t.Context(), os.Getenv)
	program, there := nvcc.FindProgram("nvdisasm", os.Getenv)
	if err != nil || !there {
		if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			t.Fatal("PAWL_REQUIRE_NVCC is set: no nvdisasm beside nvcc")
		}
		t.Skip("no nvcc with nvdisasm")
	}
	dir := t.TempDir()
	source := `extern "C" __global__ void sum(const float *x, float *y, int n) {
	__shared__ float tile[128];
	float total = 0;
	for (int i = 0; i < n; i += 128) {
		tile[threadIdx.x] = x[i + threadIdx.x];
		__syncthreads();
		#pragma unroll 1
		for (int j = 0; j < 128; j++) total = fmaf(tile[j], tile[127 - j], total);
		__syncthreads();
	}
	y[threadIdx.x] = total;
}
`
	if err := os.WriteFile(filepath.Join(dir, "sum.cu"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open(filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := nvcc.New(tool, nvcc.Options{Cache: kept}).Compile(t.Context(),
		nvcc.Unit{Dir: dir, Source: "sum.cu", Architecture: "sm_90"})
	if err != nil {
		t.Fatal(err)
	}
	mix, err := disassemble(t.Context(), program, module.Path, "sum")
	if err != nil {
		t.Fatal(err)
	}
	if l, all := mix.Loop, mix.All; l["float"] == 0 || l["shared"] == 0 || l["global"] > 0 || l["barrier"] > 0 ||
		all["global"] < 2 || all["barrier"] < 2 {
		t.Errorf("%+v", mix)
	}
}
