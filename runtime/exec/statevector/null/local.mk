# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/statevector/null/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnull.a
libnull_a_SOURCES = \
	runtime/exec/statevector/null/null.c
