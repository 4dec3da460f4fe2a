# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/ref/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libref.a
libref_a_SOURCES = \
	runtime/exec/ref/ref.c \
	runtime/exec/ref/ref.h
