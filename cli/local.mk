# SPDX-License-Identifier: Apache-2.0
# The files of cli/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	cli/attached.c \
	cli/attached.h \
	cli/backup.c \
	cli/backup.h \
	cli/bench.h \
	cli/bench_circuits.c \
	cli/bench_compare.c \
	cli/bench_list.c \
	cli/bench_measure.c \
	cli/bench_plot.c \
	cli/bench_print.c \
	cli/bench_workers.c \
	cli/changes.c \
	cli/changes.h \
	cli/child.c \
	cli/child.h \
	cli/cluster.c \
	cli/cluster.h \
	cli/cluster_files.c \
	cli/cluster_files.h \
	cli/cluster_plan.c \
	cli/cluster_plan.h \
	cli/cmd_bench.c \
	cli/cmd_check.c \
	cli/cmd_compile.c \
	cli/cmd_completions.c \
	cli/cmd_config.c \
	cli/cmd_draw.c \
	cli/cmd_explain.c \
	cli/cmd_infer.c \
	cli/cmd_init.c \
	cli/cmd_info.c \
	cli/cmd_run.c \
	cli/cmd_runs.c \
	cli/cmd_train.c \
	cli/cmd_weights.c \
	cli/cmd_worker.c \
	cli/command.h \
	cli/commands.c \
	cli/commands.h \
	cli/configuration.c \
	cli/configuration.h \
	cli/configuration_print.c \
	cli/configuration_train.c \
	cli/configuration_tree.h \
	cli/elsewhere.def \
	cli/execution.c \
	cli/execution.h \
	cli/guard.c \
	cli/guard.h \
	cli/help.c \
	cli/job.c \
	cli/job.h \
	cli/machine.c \
	cli/machine.h \
	cli/model_file.c \
	cli/model_file.h \
	cli/named_model.c \
	cli/named_model.h \
	cli/options.c \
	cli/options.def \
	cli/options.h \
	cli/predictions.c \
	cli/predictions.h \
	cli/record.c \
	cli/record.h \
	cli/report.c \
	cli/resume.c \
	cli/resume.h \
	cli/resume_isa.c \
	cli/resume_isa.h \
	cli/run_folder.c \
	cli/run_folder.h \
	cli/run_values.c \
	cli/run_values.h \
	cli/runs_compare.c \
	cli/runs_compare.h \
	cli/samples.c \
	cli/samples.h \
	cli/schema.c \
	cli/schema.def \
	cli/schema.h \
	cli/schema_check.h \
	cli/schema_rows.c \
	cli/schema_text.c \
	cli/schema_text.h \
	cli/stop.c \
	cli/stop.h \
	cli/stack.c \
	cli/stack.h \
	cli/table.c \
	cli/table.h \
	cli/train_callbacks.c \
	cli/train_callbacks.h \
	cli/train_graph.c \
	cli/train_log.c \
	cli/train_log.h \
	cli/train_log_files.c \
	cli/train_log_waiting.c \
	cli/train_preview.c \
	cli/train_preview.h \
	cli/train_preview_parts.h \
	cli/train_preview_print.c \
	cli/train_report.c \
	cli/train_report.h \
	cli/train_report_figures.c \
	cli/train_report_frame.c \
	cli/train_report_how.c \
	cli/train_report_page.c \
	cli/train_run.c \
	cli/train_run.h \
	cli/train_summary.c \
	cli/train_summary.h \
	cli/train_workers.c \
	cli/train_workers.h \
	cli/trouble.c \
	cli/trouble.h \
	cli/values.c \
	cli/values.h \
	cli/weights_convert.c \
	cli/weights_diff.c \
	cli/weights_files.c \
	cli/weights_files.h \
	cli/worker_start.c \
	cli/worker_start.h \
	cli/yaml_read.c \
	cli/yaml_read.h

bin_PROGRAMS += qcnn
qcnn_SOURCES = cli/main.c

# Fills the manual pages' templates; not installed.
noinst_PROGRAMS = cli/manual
cli_manual_SOURCES = \
	cli/manual.c \
	cli/manual.h \
	cli/manual_commands.c \
	cli/manual_keys.c \
	cli/manual_language.c \
	cli/manual_mdoc.c
