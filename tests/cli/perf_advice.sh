#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Six slow jobs: the first advice of `qcnn profile` is the one that helps, and following it gains at least half of what it promises.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
[ "$(nproc)" -ge 2 ] || tap_skip_all "one processor has no room for two workers"
"$QCNN" init -q
turns=5

# samples_a_second FILE
samples_a_second() {
	tr ',' '\n' <"$1" | sed -n 's/^{* *"\(samples\|wall_seconds\)": //p' | awk 'NR == 1 { seconds = $1 } NR == 2 { print $1 / seconds }'
}
# helps NAME CODE ARGUMENTS OF THE SLOW JOB -- THOSE OF THE JOB THAT FOLLOWS THE ADVICE: turn by turn; the medians count.
helps() {
	name=$1 code=$2 before=${3%% -- *} after=${3##* -- }
	: >turns
	for turn in $(seq $turns); do
		# shellcheck disable=SC2086
		"$QCNN" profile --no-limits --json $before >before.json && "$QCNN" profile --no-limits --json $after >after.json ||
			{ tap_result 1 "$name: runs"; return; }
		echo "$(sed 's/.*"advice": \[//' before.json | sed -n 's/^{"code": "\([a-z_]*\)"[^}]*"gain": \([0-9.e+]*\).*/\1 \2/p')" \
			"$(samples_a_second before.json) $(samples_a_second after.json)" | awk 'NF == 4 { print $1, $2, $4 / $3 }' >>turns
	done
	median() { cut -d ' ' -f "$1" turns | sort -g | sed -n "$((turns / 2 + 1))p"; }
	promised=$(median 2) gained=$(median 3)
	tap_is "$(cut -d ' ' -f 1 turns | sort | uniq -c | tr -s ' ')" " $turns $code" "$name: the first advice is $code"
	tap_ok "  it promises $promised times the speed, and gains $gained" awk -v p="$promised" -v g="$gained" 'BEGIN { exit !(p > 1 && g - 1 >= (p - 1) / 2) }'
	sed "s/^/# $name: code, promised, gained: /" turns
}
one="config.yaml --set train.restarts=1"

helps "a batch of 2" batch_size "$one --set train.batch_size=2 -- $one --set train.batch_size=8"

# Layers of single gates on the highest qubits: few operations for each time that the states are read and written.
"$QCNN" bench --show --circuit qcnn --qubits 22 >large.qcnn
helps "states larger than the caches" precision "large.qcnn --gradient --precision double -- large.qcnn --gradient --precision single"

# A host that computes a quarter of the time: its worker is stopped for the rest.
cat >launch.sh <<'END'
#!/bin/sh
host=$1
shift
[ "$host" = slow ] || exec sh -c "$*"
exec 3<&0
setsid sh -c "$*" <&3 3<&- &
sleep 0.2
while kill -s STOP -- -$!; do
	sleep 0.03
	kill -s CONT -- -$!
	sleep 0.01
done 2>/dev/null
wait $!
END
chmod +x launch.sh
far="$one --set train.batch_size=112 --const n=12 --set run.optimizations=light_cone --set run.threads=1 --set train.validation_freq=100"
far="$far --set cluster.launcher=exec:./launch.sh"
helps "a slow host" slow_host "$far --hosts fast,slow -- $far --hosts fast"

# 40,000 rows of 1,024 columns, four of which the model uses.
cat >columns.qcnn <<'END'
QCNN 1;
qubit[4] q;
input float[1024] pixel;
embed { for int i in [0:3] { rx(pixel[256*i]/255) q[i]; } }
layer turn { param float[4] t;  for int i in [0:3] { ry(t[i]) q[i]; }  for int i in [0:2] { cx q[i], q[i+1]; } }
observe z(q[3]);
END
{ printf '\000\000\010\003\000\000\234\100\000\000\000\040\000\000\000\040'; head -c 40960000 /dev/urandom; } >wide-images-idx3-ubyte
{ printf '\000\000\010\001\000\000\234\100'; head -c 40000 /dev/zero; } >wide-labels-idx1-ubyte
cat >columns.yaml <<'END'
model: {file: columns.qcnn}
data: {train: wide-images-idx3-ubyte, transform: [standardize], streaming: on}
train: {epochs: 5, batch_size: 64, loss: mse}
END
helps "samples in a file of many columns" data "columns.yaml -- columns.yaml --set data.streaming=off"

helps "two workers for short steps" fewer_workers "$one --hosts local:2 -- $one"

wide="$one --const n=12 --set train.batch_size=200 --set data.rounds=40 --set train.validation_freq=100"
helps "an optimisation that is switched off" batch_rank "$wide --set run.optimizations=none -- $wide"
tap_done
