/* SPDX-License-Identifier: Apache-2.0
 * Event files: known sums and bytes, records that read back, failures that are kept. */
#include "runtime/log/tfevents.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/log/proto.h"
#include "tests/tap.h"

static void test_crc(void)
{
	/* RFC 3720, B.4 */
	uint8_t b[32];

	memset(b, 0, sizeof b);
	tap_is_int(crc32c(b, 32), 0x8a9136aa, "32 zeros");
	memset(b, 0xff, sizeof b);
	tap_is_int(crc32c(b, 32), 0x62a8ab43, "32 ones");
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	tap_is_int(crc32c(b, 32), 0x46dd794e, "0 to 31");
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)(31 - i);
	tap_is_int(crc32c(b, 32), 0x113fdb5c, "31 to 0");
	tap_is_int(crc32c("123456789", 9), 0xe3069283, "the check value");
	tap_is_int(crc32c("", 0), 0, "nothing");
}

static void test_proto(void)
{
	/* protobuf.dev/programming-guides/encoding: 150 in field 1; "testing" in field 2 */
	struct buf b = BUF_INIT, inner = BUF_INIT;

	proto_u64(&b, 1, 150);
	proto_str(&b, 2, "testing");
	tap_ok(b.len == 12 && !memcmp(b.data, "\x08\x96\x01\x12\x07testing", 12), "a varint and a string");
	buf_clear(&b);
	proto_u64(&inner, 1, 150);
	proto_message(&b, 3, &inner);
	tap_ok(b.len == 5 && !memcmp(b.data, "\x1a\x03\x08\x96\x01", 5), "an inner message");
	buf_clear(&b);
	proto_u64(&b, 1, UINT64_MAX);
	tap_ok(b.len == 11 && !memcmp(b.data, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), "the largest varint");
	buf_clear(&b);
	proto_f64(&b, 100, 1.0);
	tap_ok(b.len == 10 && !memcmp(b.data, "\xa1\x06\0\0\0\0\0\0\xf0\x3f", 10), "a fixed word");
	buf_release(&b);
	buf_release(&inner);
}

/* The only file of the folder. */
static void read_folder(const char *dir, struct buf *out)
{
	struct buf path = BUF_INIT;
	DIR *d = opendir(dir);

	for (struct dirent *f; d && (f = readdir(d)); )
		if (strstr(f->d_name, "tfevents"))
			buf_printf(&path, "%s/%s", dir, f->d_name);
	if (d)
		closedir(d);
	if (!path.len || buf_read_file(out, path.data, 1 << 24, NULL))
		tap_bail("no event file in %s", dir);
	buf_release(&path);
}

/* The records' sums hold; how many there are. */
static unsigned count_records(const struct buf *b)
{
	struct rd r = { .p = (const uint8_t *)b->data, .len = b->len };
	unsigned n = 0;
	bool well = true;

	while (r.at < r.len && !r.bad) {
		const uint8_t *head = rd_bytes(&r, 8), *event;
		struct rd h = { .p = head, .len = 8 };
		uint64_t len = head ? rd_u64(&h) : 0;

		well &= head && rd_u32(&r) == crc32c_masked(head, 8);
		event = rd_bytes(&r, len);
		well &= event && rd_u32(&r) == crc32c_masked(event, len);
		n++;
	}
	tap_ok(well && !r.bad, "all sums hold");
	return n;
}

static bool has(const struct buf *b, const char *text)
{
	return memmem(b->data, b->len, text, strlen(text)) != NULL;
}

static void test_file(void)
{
	static const double value[] = { 0, 0.5, 1, NAN, 0.999 }, same[] = { 2, 2 };
	static const char *const input[] = { "x" };
	static const struct tfevents_attr attr[] = { { "qubits", "q[0]" } };
	json_auto_t *named =
		json_pack("{s:f, s:s, s:b, s:n}", "rate", 0.02, "loss", "mse", "shuffle", 1, "none");
	struct buf b = BUF_INIT, graph = BUF_INIT, hparams = BUF_INIT;
	const char *key;
	json_t *v;
	struct tfevents *f;
	struct err e;

	if (tfevents_open(NULL, "train", &f, &e))
		tap_bail("%s", e.text);
	tfevents_scalar(f, "epoch_loss", 3, 0.5);
	tfevents_histogram(f, "t/histogram", 1, value, 5);
	tfevents_histogram(f, "same/histogram", 1, same, 2);
	tfevents_histogram(f, "none/histogram", 1, same, 0);
	tfevents_text(f, "config", 0, "    a: 1");
	tfevents_node(&graph, "x", "Input", NULL, 0, NULL, 0);
	tfevents_node(&graph, "conv_0/entangle", "entangle", input, 1, attr, 1);
	tfevents_graph(f, &graph);
	json_object_foreach(named, key, v)
		tfevents_hparam(&hparams, key, v);
	tfevents_session_begin(f, &hparams, 1);
	tfevents_session_end(f, true, 2);
	tap_is_int(tfevents_close(f, &e), 0, "closed");
	read_folder("train", &b);
	tap_is_int(count_records(&b), 9, "nine records");
	tap_ok(has(&b, "brain.Event:2"), "the version comes first");
	tap_ok(has(&b, "\x0a\x0a" "epoch_loss\x42\x0a\x08\x01\x12\x00\x22\x04"), "a scalar is a float tensor");
	tap_ok(has(&b, "_hparams_/session_start_info") && has(&b, "_hparams_/session_end_info"), "a session");
	buf_release(&b);
	buf_release(&graph);
	buf_release(&hparams);
}

static void test_failures(void)
{
	static const struct rlimit small = { 4096, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	struct buf path = BUF_INIT, b = BUF_INIT, records = BUF_INIT;
	struct tfevents *f;
	struct err e;
	size_t n = 0;

	buf_write_file(&b, "no", 0, NULL);
	tap_is_int(tfevents_open(NULL, "no/folder", &f, &e), -ERR_CANT_CREATE, "a folder that cannot be made");
	tfevents_scalar(f, "t", 1, 1);
	tap_is_int(tfevents_flush(f, &e), -ERR_CANT_CREATE, "is told again");
	tap_ok(tfevents_waiting(f, &n) != NULL && n > 0, "%zu bytes wait", n);
	buf_add(&records, tfevents_waiting(f, &n), n);
	unlink("no");
	tap_is_int(tfevents_flush(f, &e), 0, "until it can be made, with what it lies in");
	tfevents_waiting(f, &n);
	tap_is_int((long long)n, 0, "then nothing waits");
	tfevents_add(f, &records);
	tap_is_int(tfevents_close(f, &e), 0, "and closed");
	read_folder("no/folder", &b);
	tap_is_int(count_records(&b), 3, "with all that had been added, and what waited once more");
	buf_clear(&b);
	buf_write_file(&b, "none", 0, NULL);
	tap_is_int(tfevents_open(NULL, "none/folder", &f, &e), -ERR_CANT_CREATE, "another");
	tap_is_int(tfevents_close(f, &e), -ERR_CANT_CREATE, "is missing in the end");
	tap_is_int(tfevents_close(NULL, &e), 0, "nothing to close");
	buf_release(&records);
	/* A file that may not grow stands for a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	if (tfevents_open(NULL, "full", &f, &e))
		tap_bail("%s", e.text);
	tfevents_flush(f, &e);
	if (setrlimit(RLIMIT_FSIZE, &small)) {
		tap_skip("no limit on the size of files");
		tfevents_close(f, &e);
		return;
	}
	for (int i = 0; i < 3000; i++)
		tfevents_scalar(f, "t", (uint64_t)i, i);
	tap_is_int(tfevents_flush(f, &e), -ERR_IO, "a full disk is told");
	tap_ok(strstr(e.text, "full/events.out.tfevents.") != NULL, "with the file: %s", e.text);
	buf_str(&path, tfevents_path(f));
	tap_ok(!buf_read_file(&b, path.data, 1 << 20, &e) && count_records(&b) == 1, "no record is torn");
	tfevents_scalar(f, "t", 0, 0);
	tap_is_int(tfevents_flush(f, &e), -ERR_IO, "once more");
	setrlimit(RLIMIT_FSIZE, &large);
	tap_is_int(tfevents_close(f, &e), 0, "with room it is written");
	tap_ok(!buf_read_file(&b, path.data, 1 << 20, &e) && count_records(&b) == 3002, "and nothing is lost");
	buf_release(&path);
	buf_release(&b);
}

int main(void)
{
	test_crc();
	test_proto();
	test_file();
	test_failures();
	return tap_done();
}
