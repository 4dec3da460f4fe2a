# SPDX-License-Identifier: Apache-2.0
# The files of runtime/base/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	runtime/base/arena.c \
	runtime/base/arena.h \
	runtime/base/buf.c \
	runtime/base/buf.h \
	runtime/base/crypto/crypto.c \
	runtime/base/crypto/crypto.h \
	runtime/base/crypto/crypto_session.c \
	runtime/base/crypto/crypto_session.h \
	runtime/base/crypto/sha256_blocks.h \
	runtime/base/crypto/sha256_x86.c \
	runtime/base/diag.c \
	runtime/base/diag.def \
	runtime/base/diag.h \
	runtime/base/diag_print.c \
	runtime/base/diag_print.h \
	runtime/base/err.c \
	runtime/base/err.def \
	runtime/base/err.h \
	runtime/base/fixed.c \
	runtime/base/fixed.h \
	runtime/base/input_files.c \
	runtime/base/input_files.h \
	runtime/base/json.c \
	runtime/base/json.h \
	runtime/base/maths.c \
	runtime/base/maths.h \
	runtime/base/numerical_version.h \
	runtime/base/pool.h \
	runtime/base/profile/phases.def \
	runtime/base/profile/profile.c \
	runtime/base/profile/profile.h \
	runtime/base/profile/recorder.c \
	runtime/base/profile/recorder.h \
	runtime/base/rng.c \
	runtime/base/rng.h \
	runtime/base/shuffle.h \
	runtime/base/sincos_tmpl.h \
	runtime/base/source.c \
	runtime/base/source.h \
	runtime/base/system/buf_file.c \
	runtime/base/system/cgroup.c \
	runtime/base/system/cgroup.h \
	runtime/base/system/clock.c \
	runtime/base/system/clock.h \
	runtime/base/system/cpus.c \
	runtime/base/system/cpus.h \
	runtime/base/system/file_parts.c \
	runtime/base/system/file_parts.h \
	runtime/base/system/folder.c \
	runtime/base/system/folder.h \
	runtime/base/system/inflate.c \
	runtime/base/system/inflate.h \
	runtime/base/system/resource_limits.c \
	runtime/base/system/resource_limits.h \
	runtime/base/system/spawn.c \
	runtime/base/system/spawn.h \
	runtime/base/system/temporary_file.c \
	runtime/base/system/temporary_file.h \
	runtime/base/visible.c \
	runtime/base/visible.h
