package driver

// symbols are the functions that this project calls, by the names under which
// the library exports them. All of them are in every driver since CUDA 12.0.
type symbols struct {
	cuInit, cuDriverGetVersion, cuGetErrorName, cuGetErrorString uintptr

	cuDeviceGetCount, cuDeviceGet, cuDeviceGetName, cuDeviceGetUUID      uintptr
	cuDeviceTotalMem, cuDeviceGetAttribute, cuDeviceGetPCIBusID          uintptr
	cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease, cuCtxSetCurrent uintptr
	cuCtxSynchronize                                                     uintptr

	cuMemGetInfo, cuMemAlloc, cuMemFree                       uintptr
	cuMemHostAlloc, cuMemcpyDtoHAsync                         uintptr
	cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemsetD8Async uintptr
	cuModuleLoadData, cuModuleUnload, cuModuleGetFunction     uintptr
	cuFuncSetAttribute, cuFuncGetAttribute, cuOccupancyBlocks uintptr
	cuLaunchKernel                                            uintptr
	cuStreamCreate, cuStreamDestroy, cuStreamSynchronize      uintptr
	cuStreamBeginCapture, cuStreamEndCapture                  uintptr
	cuGraphInstantiate, cuGraphDestroy                        uintptr
	cuGraphExecDestroy, cuGraphLaunch                         uintptr
	cuEventCreate, cuEventDestroy, cuEventRecord              uintptr
	cuEventSynchronize, cuEventElapsedTime                    uintptr
	cuTensorMapEncodeTiled                                    uintptr
}

type symbol struct {
	name    string
	address *uintptr
}

func (s *symbols) table() []symbol {
	return []symbol{
		{"cuInit", &s.cuInit},
		{"cuDriverGetVersion", &s.cuDriverGetVersion},
		{"cuGetErrorName", &s.cuGetErrorName},
		{"cuGetErrorString", &s.cuGetErrorString},
		{"cuDeviceGetCount", &s.cuDeviceGetCount},
		{"cuDeviceGet", &s.cuDeviceGet},
		{"cuDeviceGetName", &s.cuDeviceGetName},
		{"cuDeviceGetUuid_v2", &s.cuDeviceGetUUID},
		{"cuDeviceTotalMem_v2", &s.cuDeviceTotalMem},
		{"cuDeviceGetAttribute", &s.cuDeviceGetAttribute},
		{"cuDeviceGetPCIBusId", &s.cuDeviceGetPCIBusID},
		{"cuDevicePrimaryCtxRetain", &s.cuDevicePrimaryCtxRetain},
		{"cuDevicePrimaryCtxRelease_v2", &s.cuDevicePrimaryCtxRelease},
		{"cuCtxSetCurrent", &s.cuCtxSetCurrent},
		{"cuCtxSynchronize", &s.cuCtxSynchronize},
		{"cuMemGetInfo_v2", &s.cuMemGetInfo},
		{"cuMemAlloc_v2", &s.cuMemAlloc},
		{"cuMemFree_v2", &s.cuMemFree},
		{"cuMemcpyHtoD_v2", &s.cuMemcpyHtoD},
		{"cuMemcpyDtoH_v2", &s.cuMemcpyDtoH},
		{"cuMemHostAlloc", &s.cuMemHostAlloc},
		{"cuMemcpyDtoHAsync_v2", &s.cuMemcpyDtoHAsync},
		{"cuMemcpyDtoD_v2", &s.cuMemcpyDtoD},
		{"cuMemsetD8Async", &s.cuMemsetD8Async},
		{"cuModuleLoadData", &s.cuModuleLoadData},
		{"cuModuleUnload", &s.cuModuleUnload},
		{"cuModuleGetFunction", &s.cuModuleGetFunction},
		{"cuFuncSetAttribute", &s.cuFuncSetAttribute},
		{"cuFuncGetAttribute", &s.cuFuncGetAttribute},
		{"cuOccupancyMaxActiveBlocksPerMultiprocessor", &s.cuOccupancyBlocks},
		{"cuLaunchKernel", &s.cuLaunchKernel},
		{"cuStreamCreate", &s.cuStreamCreate},
		{"cuStreamDestroy_v2", &s.cuStreamDestroy},
		{"cuStreamSynchronize", &s.cuStreamSynchronize},
		{"cuStreamBeginCapture_v2", &s.cuStreamBeginCapture},
		{"cuStreamEndCapture", &s.cuStreamEndCapture},
		{"cuGraphInstantiateWithFlags", &s.cuGraphInstantiate},
		{"cuGraphDestroy", &s.cuGraphDestroy},
		{"cuGraphExecDestroy", &s.cuGraphExecDestroy},
		{"cuGraphLaunch", &s.cuGraphLaunch},
		{"cuEventCreate", &s.cuEventCreate},
		{"cuEventDestroy_v2", &s.cuEventDestroy},
		{"cuEventRecord", &s.cuEventRecord},
		{"cuEventSynchronize", &s.cuEventSynchronize},
		{"cuEventElapsedTime", &s.cuEventElapsedTime},
		{"cuTensorMapEncodeTiled", &s.cuTensorMapEncodeTiled},
	}
}
