# SPDX-License-Identifier: Apache-2.0
# The files of runtime/data/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libdata.a
libdata_a_SOURCES =
