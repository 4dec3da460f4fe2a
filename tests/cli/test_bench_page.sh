#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The benchmark page of tests/bench/run.sh: its works are those of qcnn bench, its goals are judged, growth is explained.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

bench=$top_srcdir/tests/bench
export QCNN_REAL="$QCNN"

# ---- the works ----

sed '/^#/d; s/|\([^|]*\)|.*/|\1/; s|@circuits[^ ]*|all.qsim|; s/.*|//; s/--batch [0-9]*//; s/--qubits [0-9]*/--qubits 4/' "$bench/rows" | sort -u >options
printf '2\n0 h 0\n1 cz 0 1\n' >all.qsim
while read -r words; do
	# shellcheck disable=SC2086
	"$QCNN" bench $words --show >shown 2>err || { echo "$words"; cat err; }
done <options >faults
tap_is "$(cat faults)" "" "bench knows all options of the works"
tap_is "$(awk -F'|' '!/^#/ && NF != 7' "$bench/rows")" "" "seven fields a work"
tap_is "$(awk -F'|' '!/^#/ { n = split($4, g, " "); for (k = 1; k <= n; k++) if (g[k] !~ /^[a-z]+[<>]=[0-9.]+$/) print g[k] }' "$bench/rows")" "" "goals can be read"

# ---- the page ----

# A program that measures once, and says what the machine can do.
cat >fast <<'END'
#!/bin/sh
case "$*" in
*--measure*) printf 'version       qcnn\nlimits        1 thread: stream 1 GB/s in place, L2 1 GB/s a core, multiply-add %s GFLOP/s single, %s double (x)\n' "$FMA" "$FMA" ;;
bench*"--batch 16 "*) exec "$QCNN_REAL" $(echo "$@" | sed 's/--parts//') --no-limits --runs 1 ;;   # one call says nothing of shares
bench*) exec "$QCNN_REAL" "$@" --no-limits --runs 1 ;;
*) exec "$QCNN_REAL" "$@" ;;
esac
END
printf '#!/bin/sh\necho "{\\"median\\": 1000}"\n' >python
chmod +x fast python
mkdir -p shared/tools/peers
: >shared/tools/peers/peer_qsim.py
page() { FMA=$1 QCNN=./fast BENCH_THREADS=1 QCNN_SHARED=$PWD/shared PEER_PYTHON_QSIM=$PWD/python KERNELS='' sh "$bench/run.sh" "$2"; }
tap_exit 0 "a page" page 0.001 '(qcnn 8, gradient, batch 1|qcnn 16, forward)'
tap_is "$(grep -c '^| qcnn 8, gradient, batch' out)" 3 "a line a work"
tap_is "$(grep -c '| 60 % executed ✓, 85 % nominal ✓ |$' out)" 1 "goals that are reached"
tap_is "$(grep -c '^## ' out)" 0 "no section that was not asked for"
tap_is "$(grep -c '^| qcnn 8: a sample in a batch of 16, of 1,024 | [0-9.]* | 2.6 | ' out)" 1 "a ratio of two works"
tap_exit 0 "on a machine that can do more" page 100000000 'qcnn 8, gradient, batch 1,024'
tap_has out '| 60 % executed short, 85 % nominal short |' "goals that are not"
tap_has out '## Where a goal is not reached' "have a section"
tap_is "$(grep -c '^| qcnn 8, gradient, batch 1,024 | 0 % | - | - | [0-9]* % | [0-9]* % | [0-9]* % |$' out)" 1 "which tells where the time goes"
tap_exit 0 "beside a peer" page 1 'qcnn 20, forward'
tap_is "$(grep -c '^| qcnn 20, forward | .* | 1000 s | [0-9.e+]* | - |$' out)" 1 "its time over ours"

# ---- goals of passes and of parts ----

cat >told <<'END'
#!/bin/sh
case "$*" in
*--measure*) printf 'limits        1 thread: stream 1 GB/s in place, multiply-add 1 GFLOP/s single, 1 double (x)\n' ;;
info*) echo '{"threads": 1, "memory_available_bytes": 99999999999}' ;;
*--json*) printf '{"each_pass": [{"pass_seconds": 1e-3, "bytes": 2, "share_of_stream": 0.1}, {"pass_seconds": 1, "bytes": 900, "share_of_stream": %s}]}\n' "$SHARE" ;;
*) printf 'seconds_median,precision,bytes,passes'
	printf ',parts_seconds_%s' matrices encoding states losses chain sums waiting
	printf '\n5,single,1000,2,%s,0,%s,0,0,0,0\n' "$SHARE" "$(echo "$SHARE" | awk '{ print 1 - $1 }')" ;;
esac
END
chmod +x told
goals() { SHARE=$1 QCNN=./told BENCH_THREADS=1 KERNELS='' PEER_PYTHON_QSIM='' sh "$bench/run.sh" "$2"; }
tap_exit 0 "a pass that streams enough" goals 0.81 'sel 28, 1 layer[|]'
tap_has out 'each pass 80 % of the stream ✓' "and one that stays in caches is none"
tap_exit 0 "a pass that does not" goals 0.79 'sel 28, 1 layer[|]'
tap_has out 'each pass 80 % of the stream short' "is short"
tap_exit 0 "matrices of a small step" goals 0.049 'qcnn 8, gradient, batch 16[|]'
tap_has out '| 5 % of it matrices ✓ |' "as few as are wanted"
tap_exit 0 "more of them" goals 0.06 'qcnn 8, gradient, batch 16[|]'
tap_has out '| 5 % of it matrices short |' "are too many"

# ---- a long call beside calls of one sample ----

# The samples take 1 s before it and 3 s after it, on average.
cat >wavers <<'END'
#!/bin/sh
case "$*" in
*--measure*) printf 'limits        1 thread: stream 1 GB/s in place, multiply-add 1 GFLOP/s single, 1 double (x)\n' ;;
bench*)
	echo "$*" >>asked
	case "$*" in *--batch*) mean=$LONG ;; *) mean=$(($(wc -l <asked))) ;; esac
	printf 'seconds_median,seconds_mean,precision\n5,%s,single\n' "$mean" ;;
*) exec "$QCNN_REAL" "$@" ;;
esac
END
chmod +x wavers
mkdir small
cp "$bench/run.sh" small/
echo 'five samples|--circuit qcnn --qubits 4 --batch 5 --optimizations=batch_rank --runs 1 --parts|4|single<=5|||' >small/rows
long() { rm -f asked; LONG=$1 QCNN=./wavers BENCH_THREADS=1 QCNN_SHARED=$PWD KERNELS='' sh small/run.sh five; }
tap_exit 0 "a call that takes as long as its samples" long 8
tap_is "$(sed 's/ --threads.*//; s/  */ /g' asked | tr '\n' ';')" \
	"bench --circuit qcnn --qubits 4 --runs 30 --no-limits;bench --circuit qcnn --qubits 4 --batch 5 --optimizations=batch_rank --runs 1 --parts;bench --circuit qcnn --qubits 4 --runs 30 --no-limits;" \
	"one sample is measured before and after"
tap_has out '| five samples: over one sample right before and after | 4 | 5 | ✓ |' "their mean is what it is compared with"
tap_exit 0 "a call that takes longer" long 11
tap_has out '| 5.5 | 5 | short |' "is short of the goal"

# ---- threads ----

# Of three runs, one is slow with one thread, one with two, and one where limits are measured.
cat >unsteady <<'END'
#!/bin/sh
case "$*" in
*--measure*) printf 'limits        1 thread: stream 1 GB/s in place, multiply-add 1 GFLOP/s single, 1 double (x)\n' ;;
info*) echo '{"memory_available_bytes": 99999999999}' ;;
*"--runs 1 "*) ;;
bench*)
	echo "$*" >>asked
	run=$((($(wc -l <asked) - 1) % 3))
	printf 'seconds_median,seconds_min,limit_seconds\n%s,%s,8\n%s,%s,%s\n' \
		$((run == 0 ? 9 : 5)) $((run == 0 ? 7 : 4)) $((run == 1 ? 9 : 3)) $((run == 1 ? 6 : 2)) $((run == 2 ? 5 : 4)) ;;
esac
END
chmod +x unsteady
rm -f asked
tap_exit 0 "two threads beside one" env QCNN=./unsteady BENCH_THREADS=2 KERNELS='' sh "$bench/run.sh" 'processes|threads'
tap_has out '| qcnn 16, gradient, batch 16 | 5 s | 3 s | 2.00 | 2.00 | 100 % | 95 % ✓ |' "each number is the least of three runs"
tap_is "$(wc -l <asked)" 12 "of each work"

# ---- growth ----

head='"qubits","batch","gates","shape","passes","seconds_median","unit_bytes","floor_seconds","share_of_floor"'
printf '%s\n' 'qubits,parts_seconds_states,parts_seconds_sums,seconds_median' '4,1,3,1' '5,3,1,1' >parts
printf '%s\n' 'qubits,seconds_median' '4,2e-6' '5,3e-3' >single
# Nanoseconds 4, 2, 2, 4, 4.4, 8.8, 17.6: fixed cost, nothing, beyond L1, nothing, the floor, nothing that is known.
{
	echo "$head"
	printf '%s\n' '4,1,1,"samples",1,64e-9,100,16e-9,0.25' '5,1,1,"samples",1,64e-9,200,32e-9,0.5' \
		'6,1,1,"samples",1,128e-9,400,64e-9,0.5' '7,1,1,"state",2,512e-9,2000,128e-9,0.25' '8,1,1,"state",2,1126.4e-9,4000,256e-9,0.2' \
		'9,1,1,"state",2,4505.6e-9,6000,1024e-9,0.2' '10,1,1,"state",2,18022.4e-9,8000,2048e-9,0.1'
} >all
awk -F, -v caches="1000 10000" -f "$bench/growth.awk" parts single all >got
cat >want <<'END'
| 4 | 1 | samples | 1 | 4 | - | 25 % | 2 µs |  |
| 5 | 1 | samples | 1 | 2 | 0.50 | 50 % | 3 ms | kernels are 75 % of the time, 25 % before; the rest is the same for each sample |
| 6 | 1 | samples | 1 | 2 | 1.00 | 50 % | - |  |
| 7 | 1 | state | 2 | 4 | 2.00 | 25 % | - | a unit of work is beyond L1 |
| 8 | 1 | state | 2 | 4.4 | 1.10 | 20 % | - |  |
| 9 | 1 | state | 2 | 8.8 | 2.00 | 20 % | - | the floor of the plan is 2.00 times that before |
| 10 | 1 | state | 2 | 17.6 | 2.00 | 10 % | - | not explained by a limit |
END
tap_same got want "jumps are explained by what was measured"
tap_done
