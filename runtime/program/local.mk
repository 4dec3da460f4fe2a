# SPDX-License-Identifier: Apache-2.0
# The files of runtime/program/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libprogram.a
libprogram_a_SOURCES = \
	runtime/program/activation.def \
	runtime/program/anti_hermitian.h \
	runtime/program/apply.def \
	runtime/program/bytecode.h \
	runtime/program/expr.def \
	runtime/program/matrix.c \
	runtime/program/matrix.h \
	runtime/program/matrix_place.c \
	runtime/program/matrix_place.h \
	runtime/program/matrix_reverse.c \
	runtime/program/matrix_tmpl.h \
	runtime/program/program.c \
	runtime/program/program.h \
	runtime/program/program_bytes.c \
	runtime/program/program_eval.c \
	runtime/program/program_init.c \
	runtime/program/spectrum.c \
	runtime/program/spectrum.h \
	runtime/program/verify.c \
	runtime/program/verify.h \
	runtime/program/verify_circuit.c
