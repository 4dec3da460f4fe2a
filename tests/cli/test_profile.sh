# SPDX-License-Identifier: Apache-2.0
# qcnn profile: where the time of a training, a circuit and an inference goes.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
export OMP_NUM_THREADS=2 TMPDIR="$PWD"

"$QCNN" init -q
number() { grep -o "\"$1\": [-0-9.e+]*" out | head -1 | sed 's/.*: //'; }
phase() { grep -o "{\"name\": \"$1\", \"seconds\": [-0-9.e+]*" out | sed 's/.*: //'; }
holds() { awk "BEGIN { print ($1) ? 1 : 0 }"; }
# ---- a training ----
tap_exit 0 "a configuration" "$QCNN" profile --no-limits --level=matrices --steps 40 config.yaml
tap_has out 'train of model.qcnn: 40 steps in ' "as many steps as asked for"
for title in Phases Layers 'Matrices that take longest' 'Kinds of matrices' Workers Memory 'Hardware counters' 'What limits it'; do
	tap_has out "$title" "a table: $title"
done
tap_has out 'conv[0] ' "layers have the names of the model"
tap_is "$(ls -d runs 2>&1 | grep -c '^runs$') $(ls -d qcnn-profile-* 2>/dev/null)" "0 " "no run is left"
tap_has out 'The longest phase takes ' "a sentence names the longest phase"
mkdir "t: 'x'"
TMPDIR="$PWD/t: 'x'" tap_exit 0 "a folder for temporary files with odd letters" "$QCNN" profile -q --no-limits --steps 2 config.yaml
tap_is "$(ls -A "t: 'x'")" "" "is empty afterwards"
TMPDIR="$PWD/none" tap_exit 73 "one that does not exist" "$QCNN" profile --no-limits --steps 2 config.yaml
tap_has err "cannot create a temporary folder in $PWD/none: No such file or directory; TMPDIR names another folder" "names the variable"

tap_exit 0 "as JSON" "$QCNN" profile --no-limits --json --steps 200 config.yaml
tap_is "$(number steps)" 200 "steps"
attributed() { wall=$(number wall_seconds) none=$(phase unattributed) && [ "$(holds "$none <= 0.02 * $wall")" = 1 ]; }
tap_once_of_ten attributed "$QCNN" profile --no-limits --json --steps 200 config.yaml
tap_result $? "at most 2 % of the time are of no phase ($none of $wall s)"
shares=$(sed 's/.*"phases": \[\([^]]*\)\].*/\1/' out | grep -o '"share": [0-9.e+-]*' | awk '{ s += $2 } END { print s }')
tap_is "$(holds "$shares > 0.999 && $shares < 1.001")" 1 "phases add up to the wall time ($shares)"
for p in matrices forward backward chain optimizer log; do
	tap_is "$(holds "${x:=$(phase $p)}+0 > 0")" 1 "some time is of phase $p"
	x=
done
tap_exit 0 "as CSV" "$QCNN" profile --no-limits --csv --steps 20 config.yaml
tap_is "$(head -1 out)" "section,row,key,value" "its heads"
tap_is "$(grep -c '^phases,0,name,' out)" 1 "and rows"

# ---- the same bits with and without ----
"$QCNN" train -q -o plain.bin config.yaml
tap_exit 0 "log.profile_steps" "$QCNN" train -q -o profiled.bin --set log.profile_steps='[10, 30]' config.yaml
"$QCNN" weights diff plain.bin profiled.bin >out 2>err
tap_is "$?" 0 "recording changes no weight"
file=$(find runs -path '*/profile/steps-10-30/profile.json')
tap_is "$(grep -c '"steps": 21,' "$file")" 1 "the steps that were asked for are in the folder of the run"
rm -rf runs
advises() { grep -q "\"code\": \"$code\"" out; }
code=fewer_workers
tap_once_of_ten advises "$QCNN" profile --no-limits --json --steps 50 --hosts local:2 config.yaml
tap_result $? "steps of microseconds are too short for two workers"
tap_is "$(grep -o '"role": "[a-z]*"' out | tr '\n' ' ')" '"role": "coordinator" "role": "worker" "role": "worker" ' "all processes are in it"

# ---- a layer with twice the work takes twice the time ----
cat >twice.qcnn <<'END'
QCNN 1;
qubit[8] q;
input float[8] x;
block two(float[6] t) a, b { ry(t[0]) a;  rz(t[1]) b;  rxx(t[2]) a, b;  ry(t[3]) a;  ryy(t[4]) a, b;  rz(t[5]) b; }
embed { rx(each x) on q; }
layer first { param float[6] t;  two(t) on ring(q); }
layer twice { param float[6] t;  two(t) on ring(q);  two(t) on ring(q); }
layer once { param float[6] t;  two(t) on ring(q); }
observe z(q);
END
layer() { sed 's/.*"layers": //' out | tr '{' '\n' | sed -n "s/^\"layer\": \"$1\[0\]\".*\"forward_seconds\": \([0-9.e-]*\), \"backward_seconds\": \([0-9.e-]*\),.*/\1 \2/p" |
	awk 'NR == 1 { print $1 + $2 }'; }
twice() { ratio=$(awk "BEGIN { print $(layer twice) / $(layer once) }") && [ "$(holds "$ratio > 1.8 && $ratio < 2.2")" = 1 ]; }
tap_once_of_ten twice "$QCNN" profile --no-limits --gradient --batch 256 --steps 500 --json twice.qcnn
tap_result $? "twice the work takes twice the time ($ratio)"

# ---- passes over a basis of the batch ----
tap_exit 0 "batch rank" "$QCNN" profile --no-limits --steps 20 -o rank --const n=12 --set train.batch_size=200 --set data.rounds=40 \
	--set train.restarts=1 config.yaml
states() { grep -o "\"$1_states\": *[0-9]*" rank/profile.json | grep -o '[0-9]*$'; }
tap_is "$(states forward) $(states backward)" "$((20 * 13)) $((20 * 13))" "13 states span the samples of 12 qubits"
tap_exit 0 "an epoch of 168 samples in batches of 100" "$QCNN" profile --no-limits --steps 30 -o rest --set train.batch_size=100 --set train.restarts=1 config.yaml
tap_is "$(grep -o '"samples": [0-9]*' rest/profile.json | head -1)" '"samples": 1680' "fifteen epochs: the last batches are smaller"

# ---- circuits and inference ----
tap_exit 2 "--set of a model" "$QCNN" profile --set run.threads=1 model.qcnn
tap_exit 2 "--threads of a configuration" "$QCNN" profile --threads 1 config.yaml
tap_has err 'run.threads' "the key is named"
tap_exit 0 "threads and precision" "$QCNN" profile --no-limits --threads 1 --precision double --steps 3 --json model.qcnn
tap_is "$(number threads)" 1 "one thread"
tap_has out '"precision": "double"' "double precision"
"$QCNN" bench --show --circuit qcnn --qubits 18 >large.qcnn
tap_exit 0 "a state in stages" "$QCNN" profile --gradient --steps 2 -o large --json large.qcnn
tap_is "$(grep -c 'both passes</text>' large/roofline.svg large/profile.html | tr '\n' ' ')" 'large/roofline.svg:1 large/profile.html:1 ' "the roofline as a file and on the page"
tap_is "$(grep -c 'class="p-grid"' large/roofline.svg) $(grep -c 'per byte of memory traffic</text>' large/roofline.svg)" "6 1" "it has a grid and names its axes"
tap_has out '"name": "states"' "memory by what it is used for"
tap_exit 0 "with two threads" "$QCNN" profile --no-limits --gradient --threads 2 --steps 2 -o shared large.qcnn
tap_is "$(gunzip -c shared/trace.json.gz | tr '{' '\n' | grep '"ph": *"X"' | grep -E '"name": *"(for|back)ward (conv|pool)' | grep -o '"tid": *[0-9]*' | sort -u | wc -l)" 2 "stages are on the timeline of each thread"
possible() {
	share=$(sed 's/.*"stages": \[//' out | tr '{' '\n' | sed -n 's/.*"share_of_fma": \([0-9.e-]*\),.*/\1/p' | sort -g | tail -1)
	[ "$(holds "$share < 1.1")" = 1 ]
}
tap_once_of_ten possible "$QCNN" profile --gradient --steps 2 --json large.qcnn
tap_result $? "no stage is beyond the limits of the kernels that are used ($share)"
tap_exit 0 "a model" "$QCNN" profile --no-limits --gradient --batch 64 --json model.qcnn
tap_is "$(number batch_size)" 64 "its batch"
tap_has out '"command": "bench"' "calls of its circuit"
tap_exit 0 "weights" "$QCNN" profile --no-limits --json profiled.bin
tap_has out '"command": "infer"' "inference"

# ---- files ----
tap_exit 0 "files" "$QCNN" profile --no-limits --steps 20 -o files config.yaml
tap_is "$(ls files | grep -c '^profile.json$')" 1 "profile.json"
tap_is "$(ls files | grep -c roofline)" 0 "no roofline without stages"
mkdir closed && : >closed/file
tap_exit 73 "a folder that cannot be made" "$QCNN" profile --no-limits --steps 20 -o closed/file config.yaml

# ---- wrong use ----
tap_exit 2 "--json and --csv" "$QCNN" profile --json --csv config.yaml
tap_exit 2 "--batch of a configuration" "$QCNN" profile --batch 4 config.yaml
tap_has err 'train.batch_size' "the key is named"
tap_exit 66 "no such file" "$QCNN" profile missing.yaml
tap_exit 78 "a training that ends before it begins" "$QCNN" profile --no-limits --set train.max_steps=1 --set train.restarts=1 config.yaml
tap_has err 'ended before step 3' "it says why"
many=$(yes -- '--set run.seed=1' | head -n 62)
tap_exit 0 "62 options that may be repeated" "$QCNN" profile --no-limits --steps 2 $many config.yaml
tap_exit 2 "one more" "$QCNN" profile --no-limits --steps 2 $many --set run.seed=2 config.yaml
tap_has err 'more than 62 options that may be repeated' "they are too many"
"$QCNN" profile config.yaml >out 2>err &
sleep 0.3
kill -TERM $!
wait $!
tap_is "$? $(grep -c 'error: stopped ' err)" "75 1" "a signal while the limits are measured, or before"

# Data that do not come: the signal is received before there is a run.
mkfifo slow.csv && mkdir waiting
sed 's/generate: .*/train: slow.csv/; /rounds:/d' config.yaml >slow.yaml
TMPDIR=$PWD/waiting "$QCNN" profile slow.yaml >out 2>err &
pid=$!
tap_until "grep -q '^SigCgt.*[4-7c-f]...\$' /proc/$pid/status"   # TERM is handled
tap_ok "it has made its folder" test -d waiting/qcnn-profile-*
kill -TERM $pid
wait $pid
tap_is "$? $(ls waiting)" "75 " "a signal before the training leaves no folder"

# ---- advice ----
advised_first() { grep -q '"advice": \[{"code": "batch_size"' out; }
tap_once_of_ten advised_first "$QCNN" profile --no-limits --json --seconds 1 --set train.batch_size=2 --set train.restarts=1 config.yaml
tap_result $? "a batch that is too small is the first advice"
# Epochs of many steps: what each writes to the disk takes little of the time.
code=heisenberg_tail
tap_once_of_ten advises "$QCNN" profile --no-limits --json --seconds 1 --set run.optimizations='[]' --set train.batch_size=112 \
	--set train.restarts=1 --set log.tensorboard=false --set data.rounds=40 config.yaml
tap_result $? "an optimisation that is switched off is named"

# ---- the manual's way from a slow training to a fast one ----
# Sanitizers make other things slow.
[ -z "${QCNN_SANITIZED:-}" ] || { tap_done; exit; }
manual=$top_srcdir/man/qcnn-profile.1.in
sed -n '/^\.Sh READING/,/^\.Sh EXIT/p' "$manual" >section
sed -n '/^\.Bd/,/^\.Ed/p' section | grep -v '^\.' >slow.yaml
grep '^\.It$\|^\.Cm [a-z_]* :$\|^\.Dl' section | sed -n '/^\.It/,$p' | sed -n 's/^\.Cm \([a-z_]*\) :$/\1/p; s/^\.Dl \$ //p' >steps
tap_is "$(grep -c '^sed ' steps)" 4 "four steps"
samples_a_second() { sed 's/.*"wall_seconds": \([0-9.e-]*\),.*"samples": \([0-9]*\),.*/\2 \1/' out | awk '{ print $1 / $2 }'; }
# The gains of some are alike: which is first depends on the machine.
advices() { sed 's/.*"advice": \[//' out | grep -o '"code": "[a-z_]*"' | sed 's/.*: "//; s/"//'; }
advised() { advices | grep -qx "$code"; }
slow=
while read -r code && read -r change; do
	tap_once_of_ten advised "$QCNN" profile --no-limits --json --seconds 1 slow.yaml
	tap_result $? "$code is advised ($(advices | tr '\n' ' '))"
	slow=${slow:-$(samples_a_second)}
	tap_ok "  $change" sh -c "$change"
done <steps
faster() { fast=$(samples_a_second) && [ "$(holds "$fast > 2 * $slow")" = 1 ]; }
tap_once_of_ten faster "$QCNN" profile --no-limits --json --seconds 1 slow.yaml
tap_result $? "all together: $slow, then $fast samples a second"
tap_done
