# SPDX-License-Identifier: Apache-2.0
# The files of runtime/train/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libtrain.a
libtrain_a_SOURCES =
