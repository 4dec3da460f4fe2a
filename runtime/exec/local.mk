# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libexec.a
libexec_a_SOURCES = \
	runtime/exec/backend.h \
	runtime/exec/evaluator.h \
	runtime/exec/observable.c \
	runtime/exec/observable.h \
	runtime/exec/plan.c \
	runtime/exec/plan.h \
	runtime/exec/plan_build.h \
	runtime/exec/plan_fuse.c \
	runtime/exec/plan_stage.c \
	runtime/exec/plan_stage.h
