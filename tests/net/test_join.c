/* SPDX-License-Identifier: Apache-2.0
 * What environments say about processes that were started together, and the files by which these meet. */
#include "runtime/net/launch/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/net/launch/rendezvous.h"
#include "tests/tap.h"

/* "A=1 B=2" (a blank in a value is written _) into an environment without anything else; what comes of it as a text. */
static const char *found(const char *environment)
{
	static char text[1200];
	char *copy = strdup(environment), *save = NULL;
	struct join a;
	struct err e = { 0, "" };

	clearenv();
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		*equals = 0;
		setenv(word, equals + 1, 1);
	}
	if (join_find(&a, &e))
		snprintf(text, sizeof text, "%s", e.text);
	else if (!a.mode)
		snprintf(text, sizeof text, "alone");
	else
		snprintf(text, sizeof text, "%s %u/%u near %u at %s:%u job %s", join_row(a.mode)->name, a.rank, a.size, a.local,
			a.host, a.port, a.job);
	free(copy);
	return text;
}

static void says(const char *environment, const char *want)
{
	tap_is_str(found(environment), want, "%.70s", environment);
}

static void complains(const char *environment, const char *part)
{
	const char *text = found(environment);

	tap_ok(strstr(text, part) && strstr(text, "--attach=off"), "%.60s: %.200s", environment, text);
}

static void test_environments(void)
{
	says("HOME=/", "alone");
	says("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=prte-7@1",
		"Open MPI 1/4 near 2 at :29500 job prte-7_1");
	says("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", "alone");
	says("PMI_RANK=2 PMI_SIZE=3 MPI_LOCALNRANKS=3", "mpiexec 2/3 near 3 at :29500 job ");
	says("MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=2", "MVAPICH 0/2 near 0 at :29500 job ");
	says("SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=6 SLURM_STEP_ID=1 SLURM_JOB_ID=77 SLURM_STEP_TASKS_PER_NODE=2(x3) PMI_RANK=3 PMI_SIZE=6",
		"srun 3/6 near 2 at :29500 job 77.1");
	/* The script of a batch job, which is no step; a step of one task. */
	says("SLURM_PROCID=0 SLURM_NTASKS=6 SLURM_JOB_ID=77", "alone");
	says("SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_ID=0 SLURM_NTASKS=6 SLURM_JOB_ID=77", "alone");
	says("RANK=1 WORLD_SIZE=2 MASTER_ADDR=10.0.0.9 MASTER_PORT=4000 LOCAL_WORLD_SIZE=1", "torchrun 1/2 near 1 at 10.0.0.9:4000 job ");
	says("RANK=1 WORLD_SIZE=2 MASTER_ADDR=node0", "torchrun 1/2 near 0 at node0:29500 job ");
	says("RANK=1 WORLD_SIZE=2", "alone");
	/* An Indexed Job as an array over seeds has no WORLD_SIZE. */
	says("JOB_COMPLETION_INDEX=2", "alone");
	says("JOB_COMPLETION_INDEX=2 WORLD_SIZE=4 MASTER_ADDR=train-0.train", "Kubernetes 2/4 near 0 at train-0.train:29500 job ");
	complains("PMI_RANK=3 PMI_SIZE=3", "PMI_RANK is `3`, not a number from 0 to 2");
	complains("PMI_RANK=-1 PMI_SIZE=3", "PMI_RANK is `-1`");
	complains("PMI_RANK=1x PMI_SIZE=3", "PMI_RANK is `1x`");
	complains("PMI_RANK=1 PMI_SIZE=4097", "PMI_SIZE is `4097`, not a number from 1 to 4096");
	says("PMI_RANK=4095 PMI_SIZE=4096", "mpiexec 4095/4096 near 0 at :29500 job ");
	complains("RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=65536", "MASTER_PORT is `65536`");
}

static void test_tf_config(void)
{
#define CLUSTER "\"cluster\":{\"chief\":[\"c:2222\"],\"worker\":[\"w0:2223\",\"w1:2224\"]}"
	says("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"chief\",\"index\":0}}", "TF_CONFIG 0/3 near 0 at c:2222 job ");
	says("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":1}}", "TF_CONFIG 2/3 near 0 at c:2222 job ");
	says("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":\"1\"}}", "TF_CONFIG 2/3 near 0 at c:2222 job ");
	says("TF_CONFIG={\"cluster\":{\"worker\":[\"[fd00::1]:2223\",\"w1:2224\"]},\"task\":{\"type\":\"worker\",\"index\":1}}",
		"TF_CONFIG 1/2 near 0 at fd00::1:2223 job ");
	says("TF_CONFIG={\"cluster\":{\"worker\":[\"w0:2223\"]},\"task\":{\"type\":\"worker\",\"index\":0}}", "alone");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":2}}", "an index that its cluster does not have");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":-1}}", "an index that its cluster does not have");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"ps\",\"index\":0}}", "the roles are chief and worker");
	complains("TF_CONFIG={" CLUSTER "}", "lacks a cluster");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\"}}",
		"a task with its type and index");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":0.5}}",
		"a task with its type and index");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":\"one\"}}",
		"an index that its cluster does not have");
	complains("TF_CONFIG={" CLUSTER ",\"task\":{\"type\":\"worker\",\"index\":\"1x\"}}",
		"an index that its cluster does not have");
	complains("TF_CONFIG={\"cluster\":{\"worker\":[\"w0\",\"w1:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}", "an address that is none");
	complains("TF_CONFIG={\"cluster\":{\"worker\":[\"w0:22x\",\"w1:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}",
		"an address that is none");
	complains("TF_CONFIG={\"cluster\":{\"worker\":[\"w0:0\",\"w1:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}", "an address that is none");
	complains("TF_CONFIG={", "is not JSON");
}

static void test_names(void)
{
	char out[JOIN_NAME_MAX + 1], longest[JOIN_NAME_MAX + 2];

	tap_ok(join_first_name("train-3.train.default.svc", 3, out) && !strcmp(out, "train-0.train.default.svc"), "the name of pod 0");
	tap_ok(join_first_name("a-b-12", 12, out) && !strcmp(out, "a-b-0"), "without a domain");
	tap_ok(!join_first_name("train-13", 3, out), "another number is none");
	tap_ok(!join_first_name("-3", 3, out) && !join_first_name("", 0, out) && !join_first_name("train", 0, out), "nor is a name without");
	memset(longest, 'x', sizeof longest);
	memcpy(longest, "a-0.", 4);
	longest[JOIN_NAME_MAX] = 0;
	tap_ok(join_first_name(longest, 0, out) && strlen(out) == JOIN_NAME_MAX, "the longest name");
	longest[JOIN_NAME_MAX] = 'x';
	longest[JOIN_NAME_MAX + 1] = 0;
	tap_ok(!join_first_name(longest, 0, out), "one letter more");
}

/* A file that is there already may be one that only root could open to write. */
static void put(const char *path, const char *text, size_t len, mode_t mode)
{
	unlink(path);
	FILE *f = fopen(path, "w");

	if (!f)
		tap_bail("%s", path);
	fwrite(text, 1, len, f);
	fclose(f);
	chmod(path, mode);
}

static void test_key_files(void)
{
	static const char hex[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	static const char base64[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
	static const struct { const char *what, *text; } wrong[] = {
		{ "a passphrase", "correct horse battery staple\n" }, { "a passphrase of 32 letters", "correct horse battery staple 1234\n" },
		{ "31 bytes", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e\n" },
		{ "no digit", "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n" },
		{ "no second digit", "0g0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n" },
		{ "base64 of 31 bytes", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==\n" }, { "nothing", "" }, { "an empty line", "\n" },
	};
	uint8_t raw[CRYPTO_KEY], one[CRYPTO_KEY], two[CRYPTO_KEY];
	struct err e = { 0, "" };
	struct stat st;

	for (unsigned i = 0; i < sizeof raw; i++)
		raw[i] = (uint8_t)i;
	put("key", hex, strlen(hex), 0600);
	tap_ok(!key_file_read("key", one, &e) && !memcmp(one, raw, sizeof raw), "64 hexadecimal digits, and an end of line");
	put("key", base64, strlen(base64), 0400);
	tap_ok(!key_file_read("key", one, &e) && !memcmp(one, raw, sizeof raw), "base64");
	put("key", base64, strlen(base64) - 2, 0600);
	tap_ok(!key_file_read("key", one, &e) && !memcmp(one, raw, sizeof raw), "without its last sign");
	put("key", (const char *)raw, sizeof raw, 0600);
	tap_ok(!key_file_read("key", one, &e) && !memcmp(one, raw, sizeof raw), "32 bytes as they are");
	raw[31] = '\n';
	put("key", (const char *)raw, sizeof raw, 0600);
	tap_ok(!key_file_read("key", one, &e) && !memcmp(one, raw, sizeof raw), "also where the last is an end of line");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		put("key", wrong[i].text, strlen(wrong[i].text), 0600);
		tap_ok(key_file_read("key", one, &e) == -ERR_AUTH && strstr(e.text, "`qcnn worker --new-key FILE` makes one"), "%s: %s", wrong[i].what, e.text);
	}
	umask(0);
	tap_ok(!key_file_new("new", &e) && !stat("new", &st) && (st.st_mode & 0777) == 0600, "a new key is private %s", e.text);
	tap_ok(!key_file_read("new", one, &e), "and is one %s", e.text);
	tap_ok(key_file_new("new", &e) == -ERR_CANT_CREATE && !key_file_read("new", two, &e) && !memcmp(one, two, sizeof one),
		"a file that is there is not overwritten: %s", e.text);
	tap_ok(!key_file_new("other", &e) && !key_file_read("other", two, &e) && memcmp(one, two, sizeof one), "each is another one");
	put("key", hex, strlen(hex), 0604);
	tap_ok(key_file_read("key", one, &e) == -ERR_AUTH && strstr(e.text, "chmod 600 key"), "others may read it: %s", e.text);
	tap_ok(key_file_read("nowhere", one, &e) == -ERR_NO_INPUT, "no such file: %s", e.text);
	tap_ok(key_file_read(".", one, &e) == -ERR_NO_INPUT, "a folder: %s", e.text);
}

static void broken(const char *what, const char *text, size_t len)
{
	struct rendezvous got;
	struct err e = { 0, "" };

	put("rendezvous", text, len, 0600);
	tap_ok(rendezvous_read("rendezvous", &got, &e) == -ERR_UNREACHABLE, "%s: %s", what, e.text);
}

/* In a folder as /tmp is, where nobody can replace the file of another user. */
static void test_planted(const char *path, const struct rendezvous *m)
{
	struct rendezvous got;
	struct err e = { 0, "" };
	struct stat st;

	mkdir("shared", 0777);
	chmod("shared", 01777);
	if (geteuid() != 0 || chown(path, 65534, 65534) || chown(".", 65534, 65534) || chown("shared", 65533, 65533)) {
		tap_skip("only root can give files to another user");
		return;
	}
	tap_ok(rendezvous_read(path, &got, &e) == -ERR_AUTH && strstr(e.text, "belongs to user 65534"), "a file of another user: %s", e.text);
	if (chown(path, 0, 65534) || chmod(path, 0640))
		tap_bail("cannot give %s back", path);
	put("shared/file", "", 0, 0600);
	if (setegid(65534) || seteuid(65534) || stat(path, &st))
		tap_bail("cannot become another user");
	tap_ok(rendezvous_read(path, &got, &e) == -ERR_AUTH && strstr(e.text, "belongs to user 0"), "of root: %s", e.text);
	tap_ok(rendezvous_write("shared/file", m, &e) == -ERR_CANT_CREATE && strstr(e.text, "belongs to user 0"), "which cannot be replaced: %s", e.text);
	if (seteuid(0) || setegid(0) || chown(".", 0, 0))
		tap_bail("cannot become root again");
}

static void test_rendezvous(void)
{
	struct rendezvous m = { .has_key = true, .naddress = 2 }, got;
	int nwrong = 0;
	struct buf path = BUF_INIT;
	struct err e = { 0, "" };
	struct stat st;

	rendezvous_path(".", "77.1", &path);
	tap_is_str(path.data, "./.qcnn-rendezvous-77.1", "the file of a job");
	for (unsigned i = 0; i < sizeof m.key; i++)
		m.key[i] = (uint8_t)(7 * i + 250);
	memset(m.words, 0xa5, sizeof m.words);
	memset(m.job, 0x5a, sizeof m.job);
	strcpy(m.address[0], "192.0.2.1:4711");
	strcpy(m.address[1], "[2001:db8::1]:4711");
	umask(0);
	put(path.data, "an old one that all may read", 28, 0666);
	tap_ok(!rendezvous_write(path.data, &m, &e) && !stat(path.data, &st) && (st.st_mode & 0777) == 0600, "it is private %s", e.text);
	tap_ok(!rendezvous_read(path.data, &got, &e) && got.has_key && !memcmp(got.key, m.key, sizeof m.key) && !memcmp(got.words, m.words, sizeof m.words)
		&& !memcmp(got.job, m.job, sizeof m.job)
		&& got.naddress == 2 && !strcmp(got.address[0], m.address[0]) && !strcmp(got.address[1], m.address[1]), "and comes back %s", e.text);
	m.has_key = false;
	tap_ok(!rendezvous_write(path.data, &m, &e) && !rendezvous_read(path.data, &got, &e) && !got.has_key, "without a key");
	chmod(path.data, 0640);
	tap_ok(geteuid() == 0 || rendezvous_read(path.data, &got, &e) == -ERR_AUTH, "the group may read it");
	chmod(path.data, 0622);
	tap_ok(rendezvous_read(path.data, &got, &e) == -ERR_AUTH, "others may write it: %s", e.text);
	chmod(path.data, 0600);
	tap_ok(!symlink(path.data, "planted") && rendezvous_read("planted", &got, &e) == -ERR_AUTH
			&& strstr(e.text, "is a symbolic link"),
		"a link to one: %s", e.text);
	test_planted(path.data, &m);
	unlink(path.data);
	tap_ok(rendezvous_read(path.data, &got, &e) == -ERR_UNREACHABLE, "it is not there: %s", e.text);
	broken("an empty one", "", 0);
	broken("half of one", "qcnn rendezvous 3\naddress 192.0.2.1:4711\n", 41);
	broken("a long address",
		"qcnn rendezvous 3\naddress 0123456789012345678901234567890123456789012345678901234567890123\nend\n",
		96);
	broken("a short key", "qcnn rendezvous 3\nkey 00\nend\n", 29);
	for (size_t i = 0; i < 2 * CRYPTO_KEY; i++) {
		char text[128];
		int len = sprintf(text, "qcnn rendezvous 3\nkey %064d\nend\n", 0);

		text[strlen("qcnn rendezvous 3\nkey ") + i] = 'g';
		put("rendezvous", text, (size_t)len, 0600);
		nwrong += rendezvous_read("rendezvous", &got, &e) != -ERR_UNREACHABLE;
	}
	tap_is_int(nwrong, 0, "a letter that is no hexadecimal digit, in any place of a key");
	broken("other words", "qcnn rendezvous 3\nhost a\nend\n", 29);
	buf_release(&path);
}

int main(void)
{
	test_environments();
	test_tf_config();
	test_names();
	test_key_files();
	test_rendezvous();
	return tap_done();
}
