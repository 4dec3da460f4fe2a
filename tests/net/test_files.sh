#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster.shard: file: workers read the data files themselves, to the same bits; a host where a file is missing or is
# another one is named.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cp "$top_srcdir"/examples/digits/* .
cp digits01.csv other.csv
few="--set train.epochs=2 --set train.restarts=1 --set log.dir=$PWD/runs --set log.report=false --set log.tensorboard=false --no-progress --fresh"
# train NAME [options]: leaves NAME.bin.
train() {
	name=$1
	shift
	timeout 100 "$QCNN" train config.yaml $few -o $name.bin "$@" >out 2>err || { tap_note "$(cat err)"; return 1; }
}
got_mb() { sed -n 's/.*, and got \([0-9.e+-]*\) MB.*/\1/p' err | awk '{ n += $1 } END { print n }'; }
# same WHAT [options]: the weights of one process and of workers that read files; fewer bytes go to these.
same() {
	what=$1
	shift
	rm -f want.bin data.bin file.bin
	train want "$@"
	train data --hosts local:2 -v --set cluster.shard=data "$@"
	mb=$(got_mb)
	train file --hosts local:2 -v --set cluster.shard=file "$@"
	tap_ok "$what: the same weights" cmp want.bin file.bin
	tap_ok "$what: $(got_mb) MB to the workers instead of $mb" awk "BEGIN { exit !($(got_mb) < 0.8 * $mb) }"
}
same "a CSV file"
same "a file that stays on disk" --set data.streaming=on
same "inputs that are changed by what was learnt" --set 'data.transform=[standardize, {min_max: {low: 0, high: 1}}]'
same "the same, from disk" --set 'data.transform=[standardize, {min_max: {low: 0, high: 1}}]' --set data.streaming=on
same "a second file" --set data.validation=other.csv --set 'data.split={train: 1, validation: 0, test: 0}'

# More than is kept in memory (64 MB as doubles): 135,000 samples of 64 bytes, read row by row on both sides.
{ printf '\000\000\010\003\000\002\017\130\000\000\000\010\000\000\000\010'; seq 2000000 | head -c 8640000; } >big-images-idx3-ubyte
{ printf '\000\000\010\001\000\002\017\130'; seq 2000000 | head -c 135000 | tr '0-9\n' '\000\001\000\001\000\001\000\001\000\001\000'; } >big-labels-idx1-ubyte
same "rows that are read when they are wanted" --set data.train=big-images-idx3-ubyte --set data.label=null --set data.streaming=on \
	--set 'data.split={train: 160, validation: 64, test: 64}'
tap_is "$(timeout 100 "$QCNN" train config.yaml $few --dry-run --json --hosts local:1 --set cluster.shard=file --set data.train=big-images-idx3-ubyte \
	--set data.label=null --set data.streaming=on --set 'data.split={train: 160, validation: 64, test: 64}' 2>err | grep -o '"streamed": true' | sort -u)" \
	'"streamed": true' "they are streamed"

cp "$top_srcdir"/examples/cluster/* .
train want --set data.rounds=8
train file --set data.rounds=8 --hosts local:2 --set cluster.shard=file
tap_ok "data that are generated are sent" cmp want.bin file.bin

cp "$top_srcdir"/examples/digits/* .
"$QCNN" train config.yaml $few --dry-run --hosts local:2 --set cluster.shard=file >out 2>err
tap_has out "shard     each worker reads the data files itself" "a dry run tells how inputs come to the workers"
"$QCNN" train config.yaml $few --dry-run --json --hosts local:2 --set cluster.shard=file >out 2>err
tap_has out '"shard": "file"' "in JSON too"

# ---- other hosts, other files ----
# agent NAME COMMAND: a way to a host where COMMAND happens before the worker starts.
agent() {
	printf '#!/bin/sh\nshift\n%s\nexec sh -c "$*"\n' "$2" >"$1"
	chmod +x "$1"
}
away="--hosts 127.0.0.5 --remote-path $QCNN --set cluster.shard=file"
agent gone 'mv digits01.csv moved.csv'
timeout 100 "$QCNN" train config.yaml $few $away --launcher "exec:$PWD/gone" >out 2>err
tap_is $? 66 "a host without the file"
tap_has err "127.0.0.5[0]: " "is named"
tap_has err "$PWD/digits01.csv" "and so is the file"
tap_has err "cluster.shard: file needs the same data files by the same names on all hosts, cluster.shard: data sends them" "with what to do"
mv moved.csv digits01.csv
agent changed "sed -i '2s/0/1/' digits01.csv"
timeout 100 "$QCNN" train config.yaml $few $away --launcher "exec:$PWD/changed" >out 2>err
tap_is $? 65 "a host whose file is another one"
tap_has err "127.0.0.5[0]: $PWD/digits01.csv has another content than on the coordinator's host" "is named"
tap_done
