# SPDX-License-Identifier: Apache-2.0
# qcnn profile of states that are split over ranks: all ranks are in it, with the exchanges of the plan.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

QCNN=$(cd "$(dirname "$QCNN")" && pwd)/qcnn
cp -r "$top_srcdir/examples/cluster" .
cd cluster || exit 1
printf '#!/bin/sh\nshift\nsh -c "$*"\n' >agent
chmod +x agent
away="--hosts=local,a:3 --launcher=exec:$PWD/agent --iface=lo"

# planned MODEL: bytes of each exchange, as the plan has them.
planned() { "$QCNN" compile --emit=plan --ranks=4 "$1" | sed -n 's/.*each rank sends \([0-9.e+]*\) bytes of a state/\1/p' | awk '{ printf "%d\n", $1 }'; }
# found FILE: a line of rank, segment, direction, exchanges and bytes for each row; and those that cannot be: waiting for longer than they take.
rows() { sed 's/.*"exchanges": \[\([^]]*\)\].*/\1/' "$1" | tr '{' '\n' | grep '"rank"'; }
found() { rows "$1" | sed 's/"rank": \([0-9]*\),.*"segment": \([0-9]*\), "direction": "\([a-z]*\)", "exchanges": \([0-9]*\),.*"bytes": \([0-9]*\),.*/\1 \2 \3 \4 \5/' | sort; }
impossible() { rows "$1" | sed 's/.*"seconds": \([0-9.e-]*\), "wait_seconds": \([0-9.e-]*\),.*/\1 \2/' | awk '!($1 > 0 && $2 >= 0 && $2 <= $1)' | wc -l; }
# expected FORWARD BACKWARD <BYTES...: those of the plan, each that many times in each of four ranks.
expected() {
	awk -v forward="$1" -v backward="$2" '{ for (r = 0; r < 4; r++) {
		print r, NR, "forward", forward, forward * $1
		if (backward) print r, NR, "backward", backward, 2 * backward * $1 } }' | sort
}

# ---- calls of a circuit ----

"$QCNN" bench --circuit=qcnn --qubits=12 --show >model.qcnn
planned model.qcnn >bytes
tap_is "$(grep -c . bytes)" 1 "a QCNN has one exchange"
for where in "" "$away"; do
	# shellcheck disable=SC2086
	tap_exit 0 "three gradients by four ranks ${where:+on two hosts}" "$QCNN" profile --no-limits --gradient --threads=1 --steps=3 --json -o files --ranks=4 $where model.qcnn
	found out >rows
	expected 3 3 <bytes >want
	tap_same rows want "each rank exchanges what is planned: once forward, and two states once backward"
	tap_is "$(impossible out)" 0 "and waits for a part of the time"
	tap_is "$(grep -o '"role": "[a-z]*"' out | tr -d '\n')" '"role": "coordinator""role": "rank""role": "rank""role": "rank"' "all ranks are in it"
	tap_has out '{"name": "exchange", "seconds": ' "exchanges are a phase"
	gunzip -c files/trace.json.gz | tr -d '\n' | sed 's/{"ph"/\n&/g' | grep '"cat":"exchange"' >events
	for direction in exchange 'exchange back'; do
		tap_is "$(grep "\"name\":\"$direction\"" events | grep -o '"pid":[0-9]*' | sort | uniq -c | awk '{ printf "%s %s,", $1, $2 }')" \
			"$(for rank in 1 2 3 4; do printf '%d "pid":%d,' 3 $rank; done)" "events on the timeline of each: $direction"
	done
	for times in 1 2; do
		tap_is "$(grep -c "\"segment\":1,\"bytes\":$(($(cat bytes) * times)),\"mean ns of waiting\":" events)" 12 "with their bytes"
	done
done
tap_exit 0 "for people" "$QCNN" profile --no-limits --threads=1 --steps=2 --ranks=4 model.qcnn
tap_has out "Exchanges between segments" "a table"
tap_has out "4 processes" "of four processes"
tap_is "$(grep -c 'fewer_workers\|The 3 workers' out)" 0 "ranks are no workers that one process could do without"
tap_exit 0 "without ranks" "$QCNN" profile --no-limits --threads=1 --steps=2 model.qcnn
tap_is "$(grep -c Exchanges out)" 0 "there is no such table"

# ---- inference and training ----

"$QCNN" train -q --fresh --set=train.epochs=2 --set=train.restarts=2 --set=data.rounds=1 --set=run.split=4 -o plain.bin config.yaml
planned cluster.qcnn >bytes
tap_exit 0 "an inference" "$QCNN" profile --no-limits --steps=3 --json --ranks=4 plain.bin
samples=$(grep -o '"samples": [0-9]*' out | head -1 | grep -o '[0-9]*$')
found out >rows
expected "$samples" 0 <bytes >want
tap_same rows want "exchanges of $samples samples"
tap_exit 0 "a training that records some of its steps" "$QCNN" train -q --fresh --set=train.epochs=2 --set=train.restarts=2 --set=data.rounds=1 \
	--set=run.split=4 --set=log.profile_steps='[1, 2]' --ranks=4 -o profiled.bin config.yaml
cmp plain.bin profiled.bin >cmp.out 2>&1
tap_is $? 0 "gives the weights of one that does not"
file=$(find runs -path '*/profile/steps-1-2/profile.json')
tap_is "$(grep -o '"role": "rank"' "$file" | wc -l)" 3 "and has a profile of all ranks"
tap_exit 0 "a configuration" "$QCNN" profile --no-limits --steps=3 --json --set=run.split=4 --ranks=4 --set=train.restarts=1 config.yaml
tap_is "$(found out | cut -d' ' -f1-3 | grep -c .)" 16 "two exchanges, in both directions, by four ranks"
tap_done
