# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/statevector/ref/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libref.a
libref_a_SOURCES = \
	runtime/exec/statevector/ref/ref.c \
	runtime/exec/statevector/ref/ref.h
