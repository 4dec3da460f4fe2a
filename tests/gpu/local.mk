# SPDX-License-Identifier: Apache-2.0
# The emulated GPU and programs that compute on it: states-fast and qcnn-fast check nothing; states-checked and qcnn-emu check
# every access. In a build with sanitizers there are the fast ones alone, and the sanitizers check them.

emu_sources = tests/gpu/emu/emu_cupti.cpp tests/gpu/emu/emu_device.cpp tests/gpu/emu/emu_nccl.cpp tests/gpu/emu/emu_runtime.cpp
emu_headers = tests/gpu/emu/cuda_runtime.h tests/gpu/emu/emu.h tests/gpu/emu/emu_totals.h \
	tests/gpu/emu/nvtx3/nvToolsExt.h
EXTRA_DIST += $(emu_sources) $(emu_headers) tests/gpu/emu/faults.cu tests/gpu/check.sh tests/gpu/golden.sh tests/gpu/test_counted_work.c \
	tests/gpu/test_traces.c

# Tests of tests/kernels that take a device as their argument: NAME of test_NAME, here tests/gpu/NAME-fast.
emulated_tests = evaluator optimisations positions shots split
emulated_programs =
if EMULATOR
emulated_programs += tests/gpu/qcnn-fast tests/gpu/states-fast $(emulated_tests:%=tests/gpu/%-fast)
if !SANITIZERS
emulated_programs += tests/gpu/qcnn-emu tests/gpu/states-checked tests/gpu/optimisations-checked tests/gpu/work-checked \
	tests/gpu/faults-emu tests/gpu/traces-fast
endif
CLEANFILES += $(emulated_programs) tests/gpu/traces.o tests/gpu/work.o $(emu_fast) $(emu_checked) tests/gpu/emu/faults.checked
emu_fast = $(emu_sources:.cpp=.fast) $(emu_kernels:=.fast)
emu_checked = $(emu_sources:.cpp=.checked) $(emu_kernels:=.checked)
emu_kernels = tests/gpu/cuda_cache_kernels tests/gpu/cuda_device tests/gpu/cuda_readout_kernels tests/gpu/cuda_stage_kernels
# As nvcc compiles kernels: no operations are merged. An x86-64 processor has fused multiply-adds only where it is asked for.
emu_flags = -std=c++17 -g1 $(SANITIZE_CFLAGS) -ffp-contract=off $(AVX2_CFLAGS) -Wall -Wextra -Wno-unused-function -Wno-unknown-pragmas \
	$(DEFS) -I$(srcdir)/tests/gpu/emu -I$(srcdir) -I.
emu_optimised = -O3
# Kernels have loops over a few registers, which nvcc unrolls: a quarter less time than with -O2, half of it to compile.
emu_unrolled = -O1 -funroll-loops
# The compiler reports each access by a call, which emu_device.cpp answers: no library of the sanitizer is linked.
# Amplitudes are copied whole, as nvcc does.
emu_reports = -O1 -fno-thread-jumps -fno-tree-sra -fsanitize=thread
$(emu_fast) $(emu_checked) tests/gpu/emu/faults.checked: $(emu_headers) $(cuda_headers)
tests/gpu/emu/%.fast: tests/gpu/emu/%.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) $(emu_flags) $(emu_optimised) -c -o $@ $<
tests/gpu/emu/%.checked: tests/gpu/emu/%.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) $(emu_flags) $(emu_optimised) -DEMU_CHECK -c -o $@ $<
tests/gpu/emu/%.checked: tests/gpu/emu/%.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) $(emu_flags) $(emu_reports) -x c++ -c -o $@ $<
tests/gpu/%.fast: $(cuda_folder)/%.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) $(emu_flags) $(emu_unrolled) -x c++ -c -o $@ $<
tests/gpu/%.checked: $(cuda_folder)/%.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) $(emu_flags) $(emu_reports) -x c++ -c -o $@ $<
AM_V_CXX = $(am__v_CXX_$(V))
am__v_CXX_ = $(am__v_CXX_$(AM_DEFAULT_VERBOSITY))
am__v_CXX_0 = @echo "  CXX     " $@;

emu_link = $(CXX) -pthread -rdynamic $(SANITIZE_CFLAGS) $(OPENMP_CFLAGS) $(LDFLAGS) -Wl,-u,backend_cuda \
	-Wl,--wrap=cpus_memory_available
emu_libs = $(room_libs) libgpu.a $(room_libs) \
	$(YAML_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(LIBS)
states_objects = $(tests_gpu_test_states_OBJECTS)
tests/gpu/states-fast: $(states_objects) $(emu_fast) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(states_objects) $(emu_fast) $(emu_libs)
tests/gpu/states-checked: $(states_objects) $(emu_checked) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(states_objects) $(emu_checked) $(emu_libs)
$(emulated_tests:%=tests/gpu/%-fast): tests/gpu/%-fast: tests/kernels/test_% $(emu_fast) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(tests_kernels_test_$*_OBJECTS) $(emu_fast) $(emu_libs)
tests/gpu/optimisations-checked: tests/kernels/test_optimisations $(emu_checked) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(tests_kernels_test_optimisations_OBJECTS) $(emu_checked) $(emu_libs)
# Asks the emulated GPU what it has counted: a program of that alone.
tests/gpu/work.o: tests/gpu/test_counted_work.c tests/gpu/emu/emu_totals.h runtime/exec/statevector/plan/plan.h \
	tests/kernels/random_program.h
	$(AM_V_CC)$(COMPILE) -c -o $@ $(srcdir)/tests/gpu/test_counted_work.c
tests/gpu/work-checked: tests/gpu/work.o $(states_objects) $(emu_checked) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ tests/gpu/work.o $(filter %random_program.o,$(states_objects)) $(emu_checked) $(emu_libs)
tests/gpu/traces.o: tests/gpu/test_traces.c runtime/base/profile/profile.h runtime/base/profile/recorder.h runtime/exec/evaluator.h
	$(AM_V_CC)$(COMPILE) -c -o $@ $(srcdir)/tests/gpu/test_traces.c
tests/gpu/traces-fast: tests/gpu/traces.o $(emu_fast) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ tests/gpu/traces.o $(emu_fast) $(emu_libs)
tests/gpu/faults-emu: tests/gpu/emu/faults.checked $(emu_sources:.cpp=.checked)
	$(AM_V_CXX)$(CXX) $(LDFLAGS) -o $@ tests/gpu/emu/faults.checked $(emu_sources:.cpp=.checked)
tests/gpu/qcnn-fast: $(qcnn_OBJECTS) $(emu_fast) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(qcnn_OBJECTS) $(emu_fast) $(emu_libs)
tests/gpu/qcnn-emu: $(qcnn_OBJECTS) $(emu_checked) $(room_libs) libgpu.a
	$(AM_V_CXX)$(emu_link) -o $@ $(qcnn_OBJECTS) $(emu_checked) $(emu_libs)
endif

# The machine code of the kernels, and what the emulated GPU counts and finds, as a table. Installed for it, in the build's folder:
# NVIDIA's disassembler.
cuda_tests = tests/gpu/cuda_code.sh tests/gpu/test_counts.sh tests/gpu/cuda_barriers.sh
EXTRA_DIST += tests/gpu/cuda_barriers.sh tests/gpu/cuda_code.sh tests/gpu/code.awk
check-cuda: all
	@$(MAKE) $(AM_MAKEFLAGS) $(emulated_programs) $(cuda_cubins)
if CUDA
	@$(MKDIR_P) tests/gpu
	@test -d tests/gpu/disassembler || \
		{ python3 -m venv tests/gpu/new && tests/gpu/new/bin/pip -q install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm && \
		mv tests/gpu/new tests/gpu/disassembler; } >/dev/null 2>&1 || rm -rf tests/gpu/new
endif
	@status=0; $(run_tests) -t 1200 $(cuda_tests) || status=$$?; \
	for t in $(cuda_tests:tests/gpu/%=%); do echo; sed -n 's/^# |/|/p' tests/logs/gpu-$$t.log; done; exit $$status
clean-local: clean-disassembler
clean-disassembler:
	rm -rf tests/gpu/disassembler
.PHONY: check-cuda clean-disassembler
