# SPDX-License-Identifier: Apache-2.0
# The files of runtime/base/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	runtime/base/arena.c \
	runtime/base/arena.h \
	runtime/base/buf.c \
	runtime/base/buf.h \
	runtime/base/buf_file.c \
	runtime/base/cgroup.c \
	runtime/base/cgroup.h \
	runtime/base/clock.c \
	runtime/base/clock.h \
	runtime/base/cpus.c \
	runtime/base/cpus.h \
	runtime/base/crypto.c \
	runtime/base/crypto.h \
	runtime/base/crypto_session.c \
	runtime/base/crypto_session.h \
	runtime/base/diag.c \
	runtime/base/diag.def \
	runtime/base/diag.h \
	runtime/base/diag_print.c \
	runtime/base/diag_print.h \
	runtime/base/err.c \
	runtime/base/err.def \
	runtime/base/err.h \
	runtime/base/file_parts.c \
	runtime/base/file_parts.h \
	runtime/base/fixed.c \
	runtime/base/fixed.h \
	runtime/base/folder.c \
	runtime/base/folder.h \
	runtime/base/inflate.c \
	runtime/base/inflate.h \
	runtime/base/inputs.c \
	runtime/base/inputs.h \
	runtime/base/json.c \
	runtime/base/json.h \
	runtime/base/maths.c \
	runtime/base/maths.h \
	runtime/base/numerical_version.h \
	runtime/base/pool.h \
	runtime/base/rng.c \
	runtime/base/rng.h \
	runtime/base/room.c \
	runtime/base/room.h \
	runtime/base/sha256_blocks.h \
	runtime/base/sha256_x86.c \
	runtime/base/shuffle.h \
	runtime/base/source.c \
	runtime/base/source.h \
	runtime/base/spawn.c \
	runtime/base/spawn.h \
	runtime/base/spool.c \
	runtime/base/spool.h \
	runtime/base/turns_tmpl.h \
	runtime/base/visible.c \
	runtime/base/visible.h
