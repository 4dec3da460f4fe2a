# SPDX-License-Identifier: Apache-2.0
# qcnn train --dry-run: it tells what would be done, and does nothing.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
export TMPDIR="$PWD/tmp"
mkdir tmp

everything() { find . -type f ! -name out ! -name err ! -name tap.out ! -name before ! -name after -exec cksum {} + | sort; }

echo 'const int n = 40; qubit[n] q; param float t; ry(t) q[0]; observe z(q[0]);' >energy.qcnn
everything >before
tap_exit 0 "a dry run" "$QCNN" train --dry-run -o w.bin config.yaml
tap_has out 'data      30 samples for train: cluster-excitation, 4 inputs, 1 label' "tells of the training samples"
tap_has out 'data      10 samples for validation' "of those for validation"
tap_has out 'weights   5' "of the weights"
tap_has out 'steps     4 an epoch, of 8 samples; 2 epochs' "of the steps"
tap_ok "of memory" grep -Eq '^memory    [0-9.]+ MiB used, [0-9.]+ [MGT]iB available$' out
tap_ok "and of time" grep -Eq '^time      .* a step \([0-9]+ measured\), .* an epoch with its validation, .* in total$' out
tap_exit 0 "more samples for validation than there is time for" "$QCNN" train --dry-run --json --const n=12 --set data.rounds=2000 \
	--set data.split=0.02 config.yaml
tap_ok "are in the time of an epoch" awk -F '"validation_seconds": |, "epoch_seconds": ' '{ exit !($2 > 0.1 && $2 < $3 + 0) }' out
tap_exit 0 "of one sample" "$QCNN" train --dry-run --set 'model={file: energy.qcnn}' --set data.generate=no-input --set data.split=null \
	--set train.loss=output --set train.metrics=[] config.yaml
tap_has out 'data      1 sample for train: no-input, 0 inputs, 1 label' "its number is a singular"
tap_has out 'steps     1 an epoch, of 1 sample; 2 epochs' "of a batch, too"
tap_exit 78 "a state that is too large" "$QCNN" run --emit=state --no-pass=cone energy.qcnn
tap_has err 'needs 16.0 TiB for 1 sample of the state' "has its size in the largest unit"
"$QCNN" train --dry-run -o w.bin config.yaml >out 2>err
# A busy machine may take longer.
measured() { sed -n 's/^time .*(\([0-9]*\) measured).*/\1/p' out; }
many_measured() { [ "$(measured)" -ge 1000 ] || { "$QCNN" train --dry-run -o w.bin config.yaml >out 2>err && [ "$(measured)" -ge 1000 ]; }; }
tap_until many_measured
tap_ok "of at least 1000 steps, where these are quick" test "$(measured)" -ge 1000
tap_has err 'nothing was trained, and no file was written' "says that this is all"
everything >after
tap_same after before "no file is there, or changed"

tap_exit 0 "as JSON" "$QCNN" train -q --dry-run --json --set train.restarts=3 --set train.epochs=7 --set data.streaming=on --set data.transform=min_max table.yaml
tap_is "$(wc -l <out | tr -d ' ')" 1 "on one line"
for text in '"schema": 1' '"rows": 3' '"part": "test"' '"restarts": 3' '"epochs": 7' '"weights": 5' '"batch_size": 2' '"steps_per_epoch": 2' '"qubits": 2' '"streamed": false'; do
	tap_has out "$text" "it has $text"
done
for key in $(sed -e ':a' -e 's/\([:[,] *\){[^{}]*}/\10/' -e 's/\([:[,] *\)\[[^][{}]*\]/\10/' -e ta <out | tr '{,' '\n\n' | sed -n 's/.*"\([a-z_]*\)": .*/\1/p'); do
	tap_ok "$key is in the manual" grep -Eq "^\.(It )?Cm (.* )?$key( |\$)" "$top_srcdir/man/qcnn-train.1.in"
done
tap_ok "seconds add up" sh -c 'tr ",{}" "\n\n\n" <out | sed "s/[\" ]//g" | awk -F: "
	{ v[\$1] = \$2 }
	END { times = v[\"side_by_side\"] >= 3 ? 1 : v[\"side_by_side\"] == 2 ? 2 : 3
		t = v[\"total_seconds\"] / (7 * times * v[\"epoch_seconds\"]) - 1
		exit !(v[\"step_seconds\"] > 0 && v[\"epoch_seconds\"] >= v[\"step_seconds\"] && t < 1e-9 && t > -1e-9) }"'
everything >after
tap_same after before "nothing is left here either"

# A run that was stopped stays as it is.
"$QCNN" train -q --set train.max_steps=3 config.yaml
everything >before
tap_exit 0 "beside a run that is there" "$QCNN" train -q --dry-run --set train.max_steps=3 config.yaml
everything >after
tap_same after before "which is not touched"
tap_exit 0 "callbacks write nothing" "$QCNN" train -q --dry-run --set 'train.callbacks={csv: {path: log.csv}}' config.yaml
tap_ok "no file of theirs" test ! -e log.csv

# A configuration may name programs: none of them runs.
printf '#!/bin/sh\n: >"%s/ran"\nexit 1\n' "$PWD" >program
chmod +x program
for words in "hosts: [far], launcher: \"exec:$PWD/program\"" "hosts: [far], launcher: local, remote_path: $PWD/program"; do
	{ cat config.yaml; echo "cluster: {$words}"; } >untrusted.yaml
	tap_exit 0 "programs of a configuration" "$QCNN" train --dry-run --set "train.callbacks={command: {run: [$PWD/program]}}" untrusted.yaml
	tap_has err "runs no program and logs in to no host that the configuration names" "a note says that they do not run"
	tap_ok "and they do not" test ! -e ran
done
tap_exit 69 "the options may name them" "$QCNN" train --dry-run --launcher="exec:$PWD/program" --hosts=far --start-seconds=1 config.yaml
tap_ok "and they run" test -e ran

tap_exit 2 "--json alone" "$QCNN" train --json config.yaml
tap_has err '--json is for --dry-run' "has no use"
tap_exit 65 "a fault in the data" "$QCNN" train --dry-run --set data.train=two.qcnn table.yaml
printf 'a,b,label\n0.1,0.2,1e200\n0.1,0.3,1\n' >far.csv
tap_exit 1 "a fault that training meets" "$QCNN" train --dry-run --set data.train=far.csv --set data.label_map=null --set data.split=null table.yaml
tap_has err 'not finite' "is met"
tap_exit 0 "--device behind as many --set as there may be" "$QCNN" train --dry-run --json --device ref $(yes -- '--set run.seed=1' | head -n 64) config.yaml
tap_has out '"device": "ref"' "counts"
tap_done
