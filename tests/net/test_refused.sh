#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hosts that let nobody in: one that wants a password, and one whose key is another than it was, end the start soon,
# by name and with what ssh says; a listener that does not hold the job's key gets no worker.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_open 1 || tap_skip_all "$lab_why"
cp "$top_srcdir"/examples/cluster/* .
limit=60
train() {
	lab_on 0 timeout $limit "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set train.max_steps=2 --set train.restarts=1 --fresh --no-progress -o got.bin "$@" >out 2>err
}

# ---- a password ----
port=$((lab_port + 2000))
[ $lab_kind = net ] || port=$((lab_port + 1))
lab_config pw "$(lab_address 1)" $port yes
(lab_exec 1 "$lab_sshd" -D -e -f "$lab/sshd_config.pw" >"$lab/pw" 2>&1) &
sshd=$!
tap_until 'grep -q "Server listening" "$lab/pw"'
printf 'Host wants-password\n\tHostName %s\n\tPort %s\n' "$(lab_address 1)" $port >>"$lab/ssh_config.first"
cat "$lab/ssh_config" >>"$lab/ssh_config.first"
mv "$lab/ssh_config.first" "$lab/ssh_config"
train --hosts wants-password
tap_is $? 69 "a host that only takes a password, within $limit s"
tap_has err "wants-password[0]" "it is named"
tap_has err "Permission denied" "with what ssh says"
tap_has err "(it accepts none of your keys, and a password cannot be entered: ssh-copy-id installs a key there)" "and what to do"
kill $sshd

# ---- another key ----
cp "$lab/known_hosts" known
ssh-keygen -q -t ed25519 -N '' -f other_key
awk -v key="$(cut -d' ' -f2 other_key.pub)" '{ print $1, $2, key }' known >"$lab/known_hosts"
sed -i 's/StrictHostKeyChecking no/StrictHostKeyChecking yes/' "$lab/ssh_config"
train --hosts h1
tap_is $? 69 "a host whose key is another than it was"
tap_has err "h1[0]" "it is named"
tap_has err "Host key verification failed" "with what ssh says"
tap_has err "(its host key is unknown or has changed:" "and what to do"
mv known "$lab/known_hosts"
train --hosts h1
tap_is $? 0 "with the right key it works"

# ---- somebody else answers ----
# The first frame with one bit of the key turned: whoever holds that key is no coordinator of ours, and we no worker of its.
lab_turning_agent agent
train --hosts 127.0.0.1 --launcher "exec:$PWD/agent"
tap_is $? 77 "a worker with another key"
tap_has err "the coordinator did not accept this worker's proof" "says so"
tap_done
