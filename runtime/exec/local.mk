# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libexec.a
libexec_a_SOURCES =
