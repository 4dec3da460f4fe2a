#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The examples beside what others published, over seeds: the numbers of examples/README.md, printed as its rows are.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/examples.sh"

# row FLOOR NAME LAST KEY [options]: mean and least over the seeds; the mean is at least FLOOR.
row() {
	floor=$1
	shift
	words="$1${5:+ $5} seeds 1 to $2"
	seeds "$@" >values
	tap_is "$(wc -l <values | tr -d ' ')" "$2" "$words ran"
	tap_note "| $words | $3 | mean $(mean values) | least $(least values) |"
	tap_ok "$words: mean $3 $(mean values) is at least $floor" holds "$(mean values)" '>=' "$floor"
}

row 0.99 bars 10 sign_accuracy
for size in '2 0.6' '5 0.65' '10 0.8' '20 0.93' '40 0.95' '80 0.97'; do
	row "${size#* }" digits-few 10 accuracy --set "data.split={train: ${size% *}, test: 100}"
done
for ansatz in 0 1 2 3 4 5 6 7 8; do
	row 0.93 hur 5 accuracy --const ansatz=$ansatz
done
row 0.78 iris 10 accuracy
row 0.92 quanvolution 10 accuracy
row 0.94 quanvolution 10 accuracy --const depth=0
row 0.96 digits 10 sign_accuracy
row 0.95 cluster-hybrid 10 sign_accuracy
row 0.95 cluster-three-filters 10 sign_accuracy
row 0.95 cluster-legacy 10 sign_accuracy

tap_done
