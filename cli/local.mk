# SPDX-License-Identifier: Apache-2.0
# The files of cli/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcli.a
libcli_a_SOURCES =

if HAVE_CLI
bin_PROGRAMS += qcnn
qcnn_SOURCES = cli/main.c
endif
