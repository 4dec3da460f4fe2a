# SPDX-License-Identifier: Apache-2.0
# The tests. A C test tests/KIND/test_NAME.c: one line in check_PROGRAMS (no _SOURCES needed);
# those of the smoke set before `if`, as distcheck builds no others;
# a shell test tests/KIND/test_NAME.sh: one line in shell_tests; files they read: one line in EXTRA_DIST.

# They run for a moment, and -O1 takes a quarter less when they are compiled.
tests/%.$(OBJEXT): private AM_CFLAGS += -O1
tests/bench/%.$(OBJEXT): private AM_CFLAGS += -O2

check_PROGRAMS += tests/program/test_spectrum
check_PROGRAMS += tests/base/test_base
check_PROGRAMS += tests/base/test_buf
check_PROGRAMS += tests/base/test_counters
check_PROGRAMS += tests/base/test_diag
check_PROGRAMS += tests/base/test_fixed
check_PROGRAMS += tests/base/test_folder
check_PROGRAMS += tests/program/test_matrix
check_PROGRAMS += tests/base/test_pool
check_PROGRAMS += tests/base/test_profile
check_PROGRAMS += tests/base/test_recorder
check_PROGRAMS += tests/program/test_program
check_PROGRAMS += tests/base/test_rng
check_PROGRAMS += tests/base/test_text_table
if !SMOKE_CHECK
check_PROGRAMS += tests/kernels/test_backends
check_PROGRAMS += tests/kernels/test_basis
check_PROGRAMS += tests/kernels/test_cpu
check_PROGRAMS += tests/kernels/test_evaluator
check_PROGRAMS += tests/kernels/test_remote
check_PROGRAMS += tests/kernels/test_fork
check_PROGRAMS += tests/kernels/test_gates
check_PROGRAMS += tests/kernels/test_null
check_PROGRAMS += tests/kernels/test_pages
check_PROGRAMS += tests/kernels/test_plan
check_PROGRAMS += tests/kernels/test_positions
check_PROGRAMS += tests/kernels/test_ref
check_PROGRAMS += tests/kernels/test_reference
check_PROGRAMS += tests/kernels/test_wrong_basis
check_PROGRAMS += tests/kernels/test_optimisations
check_PROGRAMS += tests/kernels/test_shots
check_PROGRAMS += tests/kernels/test_noise
check_PROGRAMS += tests/kernels/test_exact_noise
check_PROGRAMS += tests/kernels/test_pairs tests/kernels/test_index_bits tests/kernels/test_heisenberg tests/kernels/test_depth
check_PROGRAMS += tests/kernels/test_exchanges
check_PROGRAMS += tests/kernels/test_split
check_PROGRAMS += tests/kernels/test_steps
check_PROGRAMS += tests/kernels/test_tensor
check_PROGRAMS += tests/kernels/test_threads
check_PROGRAMS += tests/kernels/test_counted_bytes
check_PROGRAMS += tests/kernels/test_plan_cost
check_PROGRAMS += tests/compiler/test_compile
check_PROGRAMS += tests/lang/test_front
check_PROGRAMS += tests/lang/test_meaning
check_PROGRAMS += tests/limits/test_compile_limits
check_PROGRAMS += tests/limits/test_forged_programs
check_PROGRAMS += tests/limits/test_keras_h5
check_PROGRAMS += tests/limits/test_lang_limits
check_PROGRAMS += tests/net/test_join
check_PROGRAMS += tests/net/test_clock_offset
check_PROGRAMS += tests/net/test_group
check_PROGRAMS += tests/net/test_group_calls
check_PROGRAMS += tests/net/test_group_faults
check_PROGRAMS += tests/net/test_coordinator
check_PROGRAMS += tests/net/test_coordinator_group
check_PROGRAMS += tests/net/test_hostile_profiles
check_PROGRAMS += tests/net/test_hosts
check_PROGRAMS += tests/net/test_cluster
check_PROGRAMS += tests/net/test_spin
check_PROGRAMS += tests/net/test_pending
check_PROGRAMS += tests/net/test_wire
check_PROGRAMS += tests/net/test_worker_process
check_PROGRAMS += tests/net/test_worker_profile
check_PROGRAMS += tests/train/test_callback
check_PROGRAMS += tests/train/test_callback_rules
check_PROGRAMS += tests/train/test_checkpoint
check_PROGRAMS += tests/train/test_constraint
check_PROGRAMS += tests/train/test_head
check_PROGRAMS += tests/train/test_keras_reader
check_PROGRAMS += tests/train/test_loss
check_PROGRAMS += tests/train/test_metric
check_PROGRAMS += tests/train/test_optimizer
check_PROGRAMS += tests/log/test_progress
check_PROGRAMS += tests/log/test_run_log
check_PROGRAMS += tests/train/test_schedule
check_PROGRAMS += tests/train/test_search
check_PROGRAMS += tests/train/test_search_nlopt
check_PROGRAMS += tests/train/test_concurrent_restarts
check_PROGRAMS += tests/train/test_train
check_PROGRAMS += tests/train/test_train_choices
check_PROGRAMS += tests/train/test_trajectory
check_PROGRAMS += tests/train/test_weights
check_PROGRAMS += tests/compiler/test_asm
check_PROGRAMS += tests/cli/test_profile_advice
check_PROGRAMS += tests/cli/test_captures
check_PROGRAMS += tests/cli/test_profile_page
check_PROGRAMS += tests/cli/test_bench_reliable
check_PROGRAMS += tests/data/test_csv
check_PROGRAMS += tests/data/test_dataset
check_PROGRAMS += tests/data/test_idx
check_PROGRAMS += tests/data/test_ising
check_PROGRAMS += tests/compiler/test_lists
check_PROGRAMS += tests/data/test_npy
check_PROGRAMS += tests/data/test_npz
check_PROGRAMS += tests/cli/test_resume_target
check_PROGRAMS += tests/cli/test_run_folder
check_PROGRAMS += tests/data/test_streaming
check_PROGRAMS += tests/log/test_tfevents
check_PROGRAMS += tests/log/test_trace
check_PROGRAMS += tests/cli/test_train_workers
check_PROGRAMS += tests/cli/test_worker_groups
check_PROGRAMS += tests/data/test_transform

check_PROGRAMS += tests/gpu/test_states
endif

# What some of them share or link.
random_program = tests/kernels/build.h tests/kernels/random_program.c tests/kernels/random_program.h
tests_kernels_test_optimisations_SOURCES = tests/kernels/test_optimisations.c $(random_program)
tests_kernels_test_exact_noise_SOURCES = tests/kernels/test_exact_noise.c tests/kernels/density.h tests/compile_file.h $(random_program)
tests_kernels_test_tensor_SOURCES = tests/kernels/test_tensor.c $(random_program)
tests_kernels_test_wrong_basis_SOURCES = tests/kernels/test_wrong_basis.c $(random_program)
tests_kernels_test_wrong_basis_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=rank_find
tests_kernels_test_counted_bytes_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=kernels_find
tests_base_test_folder_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fstatat
tests_log_test_run_log_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=flock
tests_base_test_counters_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=syscall
tests_train_test_checkpoint_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=evaluator_run,--wrap=score_check
tests_net_test_pending_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=crypto_exchange
tests_net_test_worker_profile_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime
tests_gpu_test_states_SOURCES = tests/gpu/test_states.c $(random_program)
tests_kernels_test_basis_SOURCES = tests/kernels/test_basis.c $(random_program)
tests_kernels_test_pairs_SOURCES = tests/kernels/test_pairs.c $(random_program)
tests_kernels_test_index_bits_SOURCES = tests/kernels/test_index_bits.c $(random_program)
tests_kernels_test_split_SOURCES = tests/kernels/test_split.c tests/net/meet.h $(random_program)
group_ranks = tests/net/group_ranks.c tests/net/group_ranks.h
tests_net_test_group_calls_SOURCES = tests/net/test_group_calls.c $(group_ranks)
tests_net_test_group_faults_SOURCES = tests/net/test_group_faults.c $(group_ranks)
tests_net_test_group_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=strided_pack,--wrap=crypto_seal
tests_bench_exchange_SOURCES = tests/bench/exchange.c $(group_ranks)
tests_net_test_group_SOURCES = tests/net/test_group.c tests/net/meet.h
tests_kernels_test_heisenberg_SOURCES = tests/kernels/test_heisenberg.c $(random_program)
tests_kernels_test_depth_SOURCES = tests/kernels/test_depth.c tests/compile_file.h $(random_program)
tests_kernels_test_noise_SOURCES = tests/kernels/test_noise.c tests/kernels/density.h tests/compile_file.h tests/kernels/targets.h
tests_kernels_test_cpu_SOURCES = tests/kernels/test_cpu.c tests/kernels/interpreter.c tests/kernels/interpreter.h tests/kernels/targets.h $(random_program)
tests_kernels_test_remote_SOURCES = tests/kernels/test_remote.c $(random_program)
tests_kernels_test_positions_SOURCES = tests/kernels/test_positions.c tests/kernels/interpreter.c tests/kernels/interpreter.h tests/kernels/targets.h $(random_program)
tests_kernels_test_reference_SOURCES = tests/kernels/test_reference.c tests/kernels/targets.h
tests_kernels_test_ref_SOURCES = tests/kernels/test_ref.c $(random_program)
tests_kernels_test_evaluator_SOURCES = tests/kernels/test_evaluator.c $(random_program)
tests_program_test_spectrum_SOURCES = tests/program/test_spectrum.c $(random_program)
tests_kernels_test_steps_SOURCES = tests/kernels/test_steps.c $(random_program)
tests_kernels_test_plan_cost_SOURCES = tests/kernels/test_plan_cost.c $(random_program)
tests_train_test_search_nlopt_LDADD = $(LDADD) $(NLOPT_LIBS)

shell_tests =
shell_tests += tests/cli/test_bench.sh
shell_tests += tests/cli/test_bench_page.sh
shell_tests += tests/cli/test_callbacks.sh
shell_tests += tests/cli/test_check.sh
shell_tests += tests/cli/test_chemistry.sh
shell_tests += tests/cli/test_classes.sh
shell_tests += tests/cli/test_config.sh
shell_tests += tests/cli/test_data_files.sh
shell_tests += tests/cli/test_draw.sh
shell_tests += tests/cli/test_dry_run.sh
shell_tests += tests/cli/test_profile_attach.sh
shell_tests += tests/cli/test_emit_circuit.sh
shell_tests += tests/cli/test_openqasm.sh
shell_tests += tests/cli/test_examples.sh
shell_tests += tests/cli/test_faults.sh
shell_tests += tests/cli/test_nested.sh
shell_tests += tests/cli/test_file_reads.sh
shell_tests += tests/cli/test_foreign_runs.sh
shell_tests += tests/cli/test_formats.sh
shell_tests += tests/cli/test_full_disk.sh
shell_tests += tests/cli/test_generators.sh
shell_tests += tests/cli/test_help.sh
shell_tests += tests/cli/test_init.sh
shell_tests += tests/cli/test_inputs.sh
shell_tests += tests/cli/test_interrupted.sh
shell_tests += tests/cli/test_json.sh
shell_tests += tests/cli/test_keras.sh
shell_tests += tests/cli/test_keys.sh
shell_tests += tests/cli/test_log.sh
shell_tests += tests/cli/test_man.sh
shell_tests += tests/cli/test_tutorial.sh
shell_tests += tests/cli/test_manual.sh
shell_tests += tests/cli/test_matrix_gates.sh
shell_tests += tests/cli/test_measures.sh
shell_tests += tests/cli/test_method.sh
shell_tests += tests/cli/test_old_runs.sh
shell_tests += tests/cli/test_pipes.sh
shell_tests += tests/cli/test_profile.sh
shell_tests += tests/cli/test_readme.sh
shell_tests += tests/cli/test_report.sh
shell_tests += tests/cli/test_resume.sh
shell_tests += tests/cli/test_extend.sh
shell_tests += tests/cli/test_own_config.sh
shell_tests += tests/cli/test_other_model.sh
shell_tests += tests/cli/test_resume_target.sh
shell_tests += tests/cli/test_run.sh
shell_tests += tests/cli/test_runs.sh
shell_tests += tests/cli/test_schema.sh
shell_tests += tests/cli/test_same_bits.sh
shell_tests += tests/cli/test_searches.sh
shell_tests += tests/cli/test_optimisations.sh
shell_tests += tests/cli/test_shots.sh
shell_tests += tests/cli/test_noise.sh
shell_tests += tests/cli/test_exact_noise.sh
shell_tests += tests/cli/test_split_groups.sh
shell_tests += tests/cli/test_link.sh
shell_tests += tests/cli/test_split_hosts.sh
shell_tests += tests/cli/test_split_profile.sh
shell_tests += tests/cli/test_split_states.sh
shell_tests += tests/cli/test_first_mistakes.sh
shell_tests += tests/cli/test_streaming.sh
shell_tests += tests/cli/test_terminal.sh
shell_tests += tests/cli/test_threads_rule.sh
shell_tests += tests/cli/test_train.sh
shell_tests += tests/cli/test_warnings.sh
shell_tests += tests/cli/test_untrusted_text.sh
shell_tests += tests/cli/test_weights.sh
shell_tests += tests/gpu/test_choice.sh
shell_tests += tests/gpu/test_device.sh
shell_tests += tests/gpu/test_counts.sh
shell_tests += tests/gpu/test_emulated.sh
shell_tests += tests/gpu/test_emulated_fast.sh
shell_tests += tests/gpu/test_predictions.sh
shell_tests += tests/gpu/test_split_ranks.sh
shell_tests += tests/lang/test_language.sh
shell_tests += tests/lang/test_openqasm.sh
shell_tests += tests/limits/test_memory.sh
shell_tests += tests/limits/test_odd_files.sh
shell_tests += tests/limits/test_stack.sh
shell_tests += tests/net/test_attached.sh
shell_tests += tests/net/test_attached_ranks.sh
shell_tests += tests/net/test_batch.sh
shell_tests += tests/net/test_cluster_keys.sh
shell_tests += tests/net/test_containers.sh
shell_tests += tests/net/test_damage.sh
shell_tests += tests/net/test_faults.sh
shell_tests += tests/net/test_firewall.sh
shell_tests += tests/net/test_files.sh
shell_tests += tests/net/test_ipv6.sh
shell_tests += tests/net/test_local.sh
shell_tests += tests/net/test_method.sh
shell_tests += tests/net/test_refused.sh
shell_tests += tests/net/test_security.sh
shell_tests += tests/net/test_split_faults.sh
shell_tests += tests/net/test_logins.sh
shell_tests += tests/net/test_manifests.sh
shell_tests += tests/net/test_missing_hosts.sh
shell_tests += tests/net/test_mpi.sh
shell_tests += tests/net/test_push.sh
shell_tests += tests/net/test_stdio.sh
shell_tests += tests/net/test_ssh.sh
shell_tests += tests/train/test_safetensors.sh
shell_tests += tests/unit/test_arrows.sh
shell_tests += tests/unit/test_walks.sh
shell_tests += tests/unit/test_terms.sh
shell_tests += tests/unit/test_bootstrap.sh
shell_tests += tests/unit/test_configure.sh
shell_tests += tests/unit/test_make.sh
shell_tests += tests/unit/test_mutants.sh
shell_tests += tests/unit/test_runner.sh

# Files and folders that tests read.
EXTRA_DIST += tests/unit/terms.txt
EXTRA_DIST += tests/base/sample_profile.h
EXTRA_DIST += tests/cli/arrays.sh
EXTRA_DIST += tests/cli/config
EXTRA_DIST += tests/cli/examples.sh
EXTRA_DIST += tests/cli/examples.txt
EXTRA_DIST += tests/cli/file_faults.sh
EXTRA_DIST += tests/cli/files.sh
EXTRA_DIST += tests/cli/near.sh
EXTRA_DIST += tests/cli/make_idx.sh
EXTRA_DIST += tests/cli/one_weight.sh
EXTRA_DIST += tests/cli/resume.sh
EXTRA_DIST += tests/cli/split_hosts.sh
EXTRA_DIST += tests/kernels/gates.txt
EXTRA_DIST += tests/kernels/model_a_n4.json
EXTRA_DIST += tests/compiler/golden
EXTRA_DIST += tests/lang/front
EXTRA_DIST += tests/lang/golden.h
EXTRA_DIST += tests/lang/language.txt
EXTRA_DIST += tests/lang/models
EXTRA_DIST += tests/lang/openqasm
EXTRA_DIST += tests/train/constraints.txt
EXTRA_DIST += tests/train/losses.txt
EXTRA_DIST += tests/train/numbers.h
EXTRA_DIST += tests/train/optimizers.txt
EXTRA_DIST += tests/train/schedules.txt
EXTRA_DIST += tests/train/searches.txt
EXTRA_DIST += tests/program/own_set.h
EXTRA_DIST += tests/program/sample.h

# Lists by purpose; every name is a path as above.
# What distcheck runs:
smoke_tests = $(filter tests/base/% tests/program/% tests/unit/%,$(all_tests))
# Too slow under the sanitizers, or of programs that check every access themselves; left out of check-sanitize:
unsanitized_tests = tests/gpu/test_counts.sh tests/gpu/test_emulated.sh
# Longer work: `make check-soak`, `make check-perf` (speed only here).
soak_tests =
soak_tests += tests/net/soak_faults.sh
soak_tests += tests/net/soak_kills.sh
soak_tests += tests/net/soak_split_kills.sh
soak_tests += tests/net/soak_starts.sh
soak_tests += tests/cli/soak_examples.sh
soak_tests += tests/cli/soak_resume.sh
soak_tests += tests/kernels/soak_processors.sh
soak_tests += tests/kernels/soak_depth.sh
soak_tests += tests/kernels/soak_split.sh
perf_tests =
perf_tests += tests/cli/perf_whole.sh
perf_tests += tests/cli/perf_checkpoint.sh
perf_tests += tests/cli/perf_dry_run.sh
perf_tests += tests/cli/perf_advice.sh
perf_tests += tests/cli/perf_log.sh
perf_tests += tests/cli/perf_recording.sh
perf_tests += tests/cli/perf_symbols.sh
perf_tests += tests/cli/perf_limits.sh
perf_tests += tests/net/perf_start.sh
perf_tests += tests/net/perf_step.sh
# Programs that these use.
perf_programs = tests/cli/bare_write tests/net/sleeping_workers tests/bench/exchange tests/bench/kernels tests/bench/recording
# qcnn with a fault at a chosen call to the file system.
fault_programs = tests/cli/faulty
tests_cli_faulty_SOURCES = cli/main.c tests/cli/faulty.c
tests_cli_faulty_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open,--wrap=write,--wrap=pwrite,--wrap=fsync,--wrap=rename,--wrap=symlink \
	-Wl,--wrap=openat,--wrap=renameat,--wrap=renameat2,--wrap=symlinkat,--wrap=mkdirat,--wrap=unlinkat \
	-Wl,--wrap=mkdir,--wrap=truncate,--wrap=ftruncate,--wrap=unlink,--wrap=remove \
	-Wl,--wrap=fopen,--wrap=fread,--wrap=fgets,--wrap=read,--wrap=pread
EXTRA_PROGRAMS = $(perf_programs) $(fault_programs)
# Every example as shipped, then over seeds beside published results: `make examples`.
example_tests = tests/cli/test_examples.sh tests/cli/compare_examples.sh

EXTRA_DIST += tests/train/callback_run.h tests/train/small_job.h tests/train/tiny.h tests/net/allreduce.c
EXTRA_DIST += tests/compile_file.h tests/check-format tests/tap.h tests/tap.sh tests/run-tests tests/allowed-skips \
	$(shell_tests) $(soak_tests) $(perf_tests) tests/cli/compare_examples.sh

all_tests = $(check_PROGRAMS) $(shell_tests)
# The longest first, so that no other waits for one at the end.
long_tests = tests/gpu/test_split_ranks.sh tests/net/test_mpi.sh tests/gpu/test_emulated.sh tests/net/test_group_faults \
	tests/cli/test_man.sh tests/net/test_split_faults.sh tests/net/test_attached_ranks.sh tests/cli/test_split_hosts.sh \
	tests/net/test_group tests/cli/test_profile.sh tests/net/test_worker_profile tests/gpu/test_emulated_fast.sh \
	tests/cli/test_split_states.sh tests/cli/test_link.sh tests/cli/test_faults.sh tests/cli/test_bench.sh \
	tests/net/test_local.sh tests/cli/test_readme.sh tests/kernels/test_positions tests/kernels/test_cpu \
	tests/gpu/test_choice.sh tests/net/test_attached.sh tests/cli/test_profile_attach.sh tests/cli/test_split_groups.sh \
	tests/net/test_group_calls tests/gpu/test_predictions.sh tests/cli/test_resume.sh
longest_first = $(filter $(all_tests),$(long_tests)) $(filter-out $(long_tests),$(all_tests))
run_tests = CC='$(CC)' $(SHELL) $(srcdir)/tests/run-tests -s $(srcdir) -b .

if SMOKE_CHECK
check-local:
	@$(run_tests) $(smoke_tests)
else
check-local: $(fault_programs) $(net_programs) $(emulated_programs)
	@$(run_tests) $(longest_first)
endif

# The whole matrix of faults, on hosts of a lab.
net_programs = tests/net/many_connections tests/net/damage tests/net/no_reader tests/net/net_drop tests/net/ports tests/net/split_faulty
tests_net_split_faulty_SOURCES = cli/main.c tests/net/split_faulty.c
tests_net_split_faulty_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=group_open,--wrap=group_offer,--wrap=backup_save
EXTRA_PROGRAMS += $(net_programs)
net_tests = tests/net/matrix_faults.sh tests/net/matrix_split.sh tests/net/matrix_bits.sh tests/net/slurm_jobs.sh
EXTRA_DIST += tests/net/README.md tests/net/played.h
EXTRA_DIST += tests/net/slurm.sh tests/net/lab.sh tests/net/link_faults.sh tests/net/held_training.sh tests/net/launched.sh tests/net/ports.sh tests/net/split_job.sh tests/net/split_cells.sh $(net_tests)
check-net: check-programs
	@$(run_tests) -j 1 -t 3600 $(net_tests)

check-soak: check-programs
	@$(run_tests) -t 3600 $(soak_tests)

# Bytes of libFuzzer for FUZZ_SECONDS (60) each, with clang and its sanitizers.
EXTRA_DIST += tests/net/any_message.h tests/fuzz/fuzz_wire.c tests/fuzz/fuzz_readers.c tests/fuzz/check.sh
check-fuzz: all
	@rm -rf fuzz/src && $(MKDIR_P) fuzz/src
	@$(MAKE) $(AM_MAKEFLAGS) -s distdir distdir=fuzz/src top_distdir=fuzz/src
	@MAKE='$(MAKE)' $(SHELL) $(srcdir)/tests/fuzz/check.sh

# Lines changed since FORMAT_BASE, or since the style was set, are formatted as .clang-format says.
check-format:
	@FORMAT_BASE='$(FORMAT_BASE)' $(SHELL) $(srcdir)/tests/check-format

# Random mutants of the sources against the tests. CONTRIBUTING.md has the settings (MUTANTS, MUTANTS_SEED ...).
EXTRA_DIST += tests/mutants/apply.awk tests/mutants/check.sh tests/mutants/confine.sh tests/mutants/equivalent \
	tests/mutants/pick.awk tests/mutants/table.awk tests/mutants/tests
check-mutants: check-programs
	@MAKE='$(MAKE)' nice -n 15 $(SHELL) $(srcdir)/tests/mutants/check.sh

check-perf: check-programs
	@$(MAKE) $(AM_MAKEFLAGS) $(perf_programs)
	@$(run_tests) -j 1 -t 3600 $(perf_tests)

examples: all
	@status=0; $(run_tests) -t 3600 $(example_tests) || status=$$?; \
	sed -n 's/^# |/|/p' tests/logs/cli-compare_examples.sh.log; exit $$status

# The page tests/bench/README.md, with peers when PEER_PYTHON_NAME says where they are; only printed with other BENCH_ROWS.
BENCH_ROWS = .
EXTRA_DIST += tests/bench/run.sh tests/bench/rows tests/bench/peer_qsim.py tests/bench/peer_split.py tests/bench/split_peers.md tests/bench/growth.awk tests/bench/tried.md tests/bench/README.md tests/bench/growth.svg tests/bench/xeon.md tests/bench/xeon.svg
bench: all tests/bench/kernels$(EXEEXT)
	@$(MKDIR_P) tests/bench
	@test -n "$$QCNN_SHARED" || QCNN_SHARED=$(abs_srcdir)/../shared; export QCNN_SHARED; \
	{ QCNN=./qcnn KERNELS=tests/bench/kernels PLOT=tests/bench/growth.svg.tmp $(SHELL) $(srcdir)/tests/bench/run.sh '$(BENCH_ROWS)' || \
		touch tests/bench/failed.tmp; } | tee tests/bench/README.md.tmp
	@if test -e tests/bench/failed.tmp; then rm -f tests/bench/*.tmp; exit 1; fi
	@if test '$(BENCH_ROWS)' = .; then mv tests/bench/growth.svg.tmp tests/bench/growth.svg; \
		mv tests/bench/README.md.tmp tests/bench/README.md; \
		else rm -f tests/bench/README.md.tmp tests/bench/growth.svg.tmp; fi

# The page tests/bench/gpu.md: predictions, which need no GPU and are the same on every machine.
EXTRA_DIST += tests/bench/gpu.sh tests/bench/gpu.md
bench-gpu: all $(emulated_programs)
	@$(MKDIR_P) tests/bench
	@$(SHELL) $(srcdir)/tests/bench/gpu.sh tests/gpu/qcnn-emu >tests/bench/gpu.md.tmp && mv tests/bench/gpu.md.tmp tests/bench/gpu.md || \
		{ rm -f tests/bench/gpu.md.tmp; exit 1; }

# The page tests/bench/split.md: predictions, which are the same on every machine that has the kernels, and split_links.rows of it, which
# are measured.
EXTRA_DIST += tests/bench/split.sh tests/bench/split.md tests/bench/split_links.sh tests/bench/split_links.rows
bench-split: all
	@$(MKDIR_P) tests/bench
	@$(SHELL) $(srcdir)/tests/bench/split_links.sh ./qcnn >tests/bench/split_links.rows.tmp && \
		mv tests/bench/split_links.rows.tmp tests/bench/split_links.rows || { rm -f tests/bench/split_links.rows.tmp; exit 1; }
	@$(SHELL) $(srcdir)/tests/bench/split.sh ./qcnn tests/bench/split_links.rows >tests/bench/split.md.tmp && mv tests/bench/split.md.tmp tests/bench/split.md || \
		{ rm -f tests/bench/split.md.tmp; exit 1; }

# The suite once more under the sanitizers. The build has its own copy of the sources (the shipped
# ones), since a configured source folder cannot serve a second build. Kernels for GPUs, which nothing runs, are left
# out. CHECK_JOBS bounds its compilers.
check_jobs = $(or $(CHECK_JOBS),$$(nproc 2>/dev/null || echo 2))
check-sanitize:
	@rm -rf sanitize/src && $(MKDIR_P) sanitize/build
	@$(MAKE) $(AM_MAKEFLAGS) -s distdir distdir=sanitize/src top_distdir=sanitize/src
	@cd sanitize/build && { test config.status -nt ../src/configure || \
		$(SHELL) ../src/configure -q --enable-sanitizers --enable-cuda=no CC='$(CC)' CXX='$(CXX)'; }
	@cd sanitize/build && $(MAKE) $(AM_MAKEFLAGS) -s -j $(check_jobs) check-programs
	@test -n "$$QCNN_SHARED" || QCNN_SHARED=$(abs_srcdir)/../shared; \
	test ! -d "$$QCNN_SHARED" || export QCNN_SHARED; \
	cd sanitize/build && $(MAKE) $(AM_MAKEFLAGS) -s check-sanitized

check-programs: all
	@$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS) $(fault_programs) $(net_programs) $(emulated_programs)

check-sanitized:
	@skip=" $(unsanitized_tests) "; run=; \
	for t in $(longest_first); do case $$skip in *" $$t "*) ;; *) run="$$run $$t";; esac; done; \
	$(run_tests) -t 600 $$run

CLEANFILES += $(EXTRA_PROGRAMS)
clean-local:
	rm -rf tests/logs
distclean-local:
	rm -rf sanitize mutants fuzz
.PHONY: bench bench-gpu bench-split check-mutants check-net check-fuzz examples check-soak check-perf check-sanitize check-sanitized check-programs
