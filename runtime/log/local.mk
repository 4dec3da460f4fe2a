# SPDX-License-Identifier: Apache-2.0
# The files of runtime/log/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += liblog.a
liblog_a_SOURCES = \
	runtime/log/event_folders.c \
	runtime/log/event_folders.h \
	runtime/log/history.c \
	runtime/log/history.h \
	runtime/log/latest.c \
	runtime/log/latest.h \
	runtime/log/live.c \
	runtime/log/live.h \
	runtime/log/metrics.c \
	runtime/log/metrics.h \
	runtime/log/progress.c \
	runtime/log/progress.h \
	runtime/log/proto.c \
	runtime/log/proto.h \
	runtime/log/run.c \
	runtime/log/run.h \
	runtime/log/svg.c \
	runtime/log/svg.h \
	runtime/log/terminal.c \
	runtime/log/terminal.h \
	runtime/log/tfevents.c \
	runtime/log/tfevents.h \
	runtime/log/trace.h \
	runtime/log/trace_chrome.c \
	runtime/log/trace_folded.c \
	runtime/log/trace_rows.c \
	runtime/log/trace_xplane.c
