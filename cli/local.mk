# SPDX-License-Identifier: Apache-2.0
# The files of cli/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcli.a
# Nothing here takes time when it runs; -O1 takes a sixth less when it is compiled.
libcli_a_CFLAGS = $(AM_CFLAGS) -O1
libcli_a_SOURCES = \
	cli/bench/bench.h \
	cli/bench/bench_circuits.c \
	cli/bench/bench_compare.c \
	cli/bench/bench_list.c \
	cli/bench/bench_measure.c \
	cli/bench/bench_passes.c \
	cli/bench/bench_plot.c \
	cli/bench/bench_print.c \
	cli/bench/bench_programs.c \
	cli/bench/bench_reliable.c \
	cli/bench/bench_workers.c \
	cli/bench/crossover.c \
	cli/bench/selftest.c \
	cli/bench/selftest.def \
	cli/bench/selftest.h \
	cli/child.c \
	cli/child.h \
	cli/command.h \
	cli/commands.c \
	cli/commands.def \
	cli/commands/cmd_bench.c \
	cli/commands/cmd_check.c \
	cli/commands/cmd_compile.c \
	cli/commands/cmd_completions.c \
	cli/commands/cmd_config.c \
	cli/commands/cmd_draw.c \
	cli/commands/cmd_explain.c \
	cli/commands/cmd_infer.c \
	cli/commands/cmd_info.c \
	cli/commands/cmd_init.c \
	cli/commands/cmd_profile.c \
	cli/commands/cmd_run.c \
	cli/commands/cmd_runs.c \
	cli/commands/cmd_train.c \
	cli/commands/cmd_weights.c \
	cli/commands/cmd_worker.c \
	cli/commands/runs_compare.c \
	cli/commands/runs_compare.h \
	cli/commands/runs_summary.c \
	cli/commands/runs_summary.h \
	cli/commands/runs_summary_figures.c \
	cli/commands/runs_summary_figures.h \
	cli/commands/weights_convert.c \
	cli/commands/weights_diff.c \
	cli/config/aliases.c \
	cli/config/aliases.def \
	cli/config/aliases.h \
	cli/config/configuration.c \
	cli/config/configuration.h \
	cli/config/configuration_print.c \
	cli/config/configuration_train.c \
	cli/config/configuration_tree.h \
	cli/config/former_names.def \
	cli/config/schema.c \
	cli/config/schema.def \
	cli/config/schema.h \
	cli/config/schema_check.h \
	cli/config/schema_rows.c \
	cli/config/schema_text.c \
	cli/config/schema_text.h \
	cli/config/yaml_read.c \
	cli/config/yaml_read.h \
	cli/help.c \
	cli/hosts/cluster.c \
	cli/hosts/cluster.h \
	cli/hosts/cluster_files.c \
	cli/hosts/cluster_files.h \
	cli/hosts/cluster_plan.c \
	cli/hosts/cluster_plan.h \
	cli/hosts/joined.c \
	cli/hosts/joined.h \
	cli/hosts/joined_groups.c \
	cli/hosts/joined_groups.h \
	cli/hosts/rank_follow.c \
	cli/hosts/worker_groups.c \
	cli/hosts/worker_groups.h \
	cli/hosts/rank_places.c \
	cli/hosts/rank_places.h \
	cli/hosts/rank_start.h \
	cli/hosts/ranks.c \
	cli/hosts/ranks.h \
	cli/hosts/supervisor.c \
	cli/hosts/supervisor.h \
	cli/hosts/worker_start.c \
	cli/hosts/worker_start.h \
	cli/job/classes.c \
	cli/job/classes.h \
	cli/job/costly_layers.c \
	cli/job/costly_layers.h \
	cli/job/device_choice.c \
	cli/job/device_choice.h \
	cli/job/execution.c \
	cli/job/execution.h \
	cli/job/job.c \
	cli/job/job.h \
	cli/job/model_file.c \
	cli/job/model_file.h \
	cli/job/model_work.c \
	cli/job/model_work.h \
	cli/job/named_model.c \
	cli/job/named_model.h \
	cli/job/predictions.c \
	cli/job/predictions.h \
	cli/job/record.c \
	cli/job/record.h \
	cli/job/run_config.c \
	cli/job/run_config.h \
	cli/job/run_folder.c \
	cli/job/run_folder.h \
	cli/job/run_metrics.c \
	cli/job/run_metrics.h \
	cli/job/sample_checks.c \
	cli/job/sample_checks.h \
	cli/job/sample_names.c \
	cli/job/sample_names.h \
	cli/job/samples.c \
	cli/job/samples.h \
	cli/job/train_callbacks.c \
	cli/job/train_callbacks.h \
	cli/job/weights_files.c \
	cli/job/weights_files.h \
	cli/gpu_limits.c \
	cli/gpu_limits.h \
	cli/gpus.def \
	cli/machine.c \
	cli/machine.h \
	cli/memory_exit.c \
	cli/memory_exit.h \
	cli/options.c \
	cli/options.def \
	cli/options.h \
	cli/options_unknown.c \
	cli/options_unknown.h \
	cli/output/messages.c \
	cli/output/run_values.c \
	cli/output/run_values.h \
	cli/output/table.c \
	cli/output/table.h \
	cli/output/values.c \
	cli/output/values.h \
	cli/output/write_error.c \
	cli/output/write_error.h \
	cli/profile/captures.c \
	cli/profile/captures.h \
	cli/profile/profile_advice.c \
	cli/profile/profile_advice.h \
	cli/profile/profile_attach.c \
	cli/profile/profile_attach.h \
	cli/profile/profile_files.c \
	cli/profile/profile_files.h \
	cli/profile/profile_html.c \
	cli/profile/profile_page.c \
	cli/profile/profile_page.h \
	cli/profile/profile_plan.c \
	cli/profile/profile_plan.h \
	cli/profile/profile_roofline.c \
	cli/profile/profile_sections.c \
	cli/profile/profile_sections.h \
	cli/profile/profile_server.c \
	cli/profile/profile_server.h \
	cli/profile/profile_stream.c \
	cli/profile/profile_stream.h \
	cli/profile/profiling.c \
	cli/profile/profiling.h \
	cli/report/report.h \
	cli/report/report_data.c \
	cli/report/report_figures.c \
	cli/report/report_frame.c \
	cli/report/report_how.c \
	cli/report/report_page.c \
	cli/signals.c \
	cli/signals.h \
	cli/stack.c \
	cli/stack.h \
	cli/training/backup.c \
	cli/training/backup.h \
	cli/training/extend.c \
	cli/training/extend.h \
	cli/training/own_config.c \
	cli/training/own_config.h \
	cli/training/resume.c \
	cli/training/resume.h \
	cli/training/resume_target.c \
	cli/training/resume_target.h \
	cli/training/train_graph.c \
	cli/training/train_log.c \
	cli/training/train_log.h \
	cli/training/train_log_files.c \
	cli/training/train_log_waiting.c \
	cli/training/train_preview.c \
	cli/training/train_preview.h \
	cli/training/train_preview_parts.h \
	cli/training/train_preview_print.c \
	cli/training/train_preview_split.c \
	cli/training/train_run.c \
	cli/training/train_run.h \
	cli/training/train_summary.c \
	cli/training/train_summary.h \
	cli/training/train_test.c \
	cli/training/train_test.h \
	cli/training/train_workers.c \
	cli/training/train_workers.h

bin_PROGRAMS += qcnn
qcnn_SOURCES = cli/main.c

# Fills the manual pages' templates; not installed.
noinst_PROGRAMS = cli/manual/manual
cli_manual_manual_SOURCES = \
	cli/manual/manual.c \
	cli/manual/manual.h \
	cli/manual/manual_commands.c \
	cli/manual/manual_keys.c \
	cli/manual/manual_language.c \
	cli/manual/manual_mdoc.c

# What Tab completes, in the folders where the shells look for it; empty where this program does not run here (a build for another
# machine).
bash_completiondir = $(datadir)/bash-completion/completions
zsh_completiondir = $(datadir)/zsh/site-functions
fish_completiondir = $(datadir)/fish/vendor_completions.d
bash_completion_DATA = cli/completions/bash/qcnn
zsh_completion_DATA = cli/completions/zsh/_qcnn
fish_completion_DATA = cli/completions/fish/qcnn.fish
completion_files = $(bash_completion_DATA) $(zsh_completion_DATA) $(fish_completion_DATA)
CLEANFILES += $(completion_files)
$(completion_files): qcnn$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { ./qcnn$(EXEEXT) completions $(notdir $(@D)) >$@.tmp 2>/dev/null || : >$@.tmp; } && mv -f $@.tmp $@
