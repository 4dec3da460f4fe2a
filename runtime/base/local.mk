# SPDX-License-Identifier: Apache-2.0
# The files of runtime/base/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	runtime/base/arena.h \
	runtime/base/buf.h \
	runtime/base/clock.h \
	runtime/base/comm.h \
	runtime/base/cpus.h \
	runtime/base/crypto.h \
	runtime/base/diag.def \
	runtime/base/diag.h \
	runtime/base/err.def \
	runtime/base/err.h \
	runtime/base/fixed.h \
	runtime/base/inflate.h \
	runtime/base/maths.h \
	runtime/base/pool.h \
	runtime/base/rng.h \
	runtime/base/source.h
