# SPDX-License-Identifier: Apache-2.0
# The files of runtime/net/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	runtime/net/ledger.c \
	runtime/net/ledger.h \
	runtime/net/pool_threads.c \
	runtime/net/pool_threads.h
