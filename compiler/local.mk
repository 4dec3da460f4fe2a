# SPDX-License-Identifier: Apache-2.0
# The files of compiler/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcompiler.a
libcompiler_a_SOURCES =
