#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_depth with 12 qubits and 10,000 repeats.
QCNN_DEPTH=full exec "${top_builddir:?run this test through tests/run-tests}/tests/kernels/test_depth"
