#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_split with up to 16 processes, and up to 20 qubits.
QCNN_RANKS=16 exec "${top_builddir:?run this test through tests/run-tests}/tests/kernels/test_split"
