# SPDX-License-Identifier: Apache-2.0
# The files of cli/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	cli/changes.c \
	cli/changes.h \
	cli/cmd_config.c \
	cli/cmd_explain.c \
	cli/command.h \
	cli/commands.c \
	cli/commands.h \
	cli/configuration.c \
	cli/configuration.h \
	cli/configuration_print.c \
	cli/configuration_tree.h \
	cli/help.c \
	cli/options.c \
	cli/options.def \
	cli/options.h \
	cli/report.c \
	cli/schema.c \
	cli/schema.def \
	cli/schema.h \
	cli/yaml_read.c \
	cli/yaml_read.h

if HAVE_CLI
bin_PROGRAMS += qcnn
qcnn_SOURCES = cli/main.c
endif
