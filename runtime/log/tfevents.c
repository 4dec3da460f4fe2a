/* SPDX-License-Identifier: Apache-2.0
 * Event files: the records and what is in them.
 *
 * Field numbers are those of tensorflow/core/util/event.proto, framework/summary.proto,
 * tensor.proto, graph.proto and tensorboard/plugins/hparams/{plugin_data,api}.proto. */
#include "runtime/log/tfevents.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"
#include "runtime/log/proto.h"
#include "runtime/log/run.h"

enum { WAITING_MAX = 1 << 16, BUCKETS = 30 };
static const double waiting_seconds = 1;

enum event_field { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_GRAPH = 4, EVENT_SUMMARY = 5, EVENT_SOURCE = 10 };
enum summary_field { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_TENSOR = 8, VALUE_METADATA = 9 };
enum metadata_field { METADATA_PLUGIN = 1, PLUGIN_NAME = 1, PLUGIN_CONTENT = 2 };
enum tensor_field { TENSOR_TYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4, TENSOR_STRING = 8 };
enum data_type { TYPE_FLOAT = 1, TYPE_DOUBLE = 2, TYPE_STRING = 7 };
enum node_field { GRAPH_NODE = 1, GRAPH_VERSIONS = 4, NODE_NAME = 1, NODE_OP = 2, NODE_INPUT = 3, NODE_ATTR = 5,
	ATTR_BYTES = 2, VERSIONS_PRODUCER = 1 };
enum hparams_field { HPARAMS_BEGIN = 3, HPARAMS_END = 4, BEGIN_HPARAM = 1, BEGIN_TIME = 5, END_STATUS = 1, END_TIME = 2,
	MAP_KEY = 1, MAP_VALUE = 2, STRUCT_NUMBER = 2, STRUCT_TEXT = 3, STRUCT_BOOL = 4, STATUS_SUCCESS = 1, STATUS_FAILURE = 2 };

struct tfevents {
	int fd;                      /* -1: not made yet */
	struct run *run; char *path; /* path: in the run's folder; run NULL: in the current one */
	struct buf waiting;
	size_t nfirst;               /* bytes of it that begin the file; 0: it is begun */
	double written;              /* when it last went to the file */
	struct err failed;
};

/* ---- CRC-32C ---- */

static uint32_t crc_table[256];

static void fill_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		crc_table[i] = c;
	}
}

uint32_t crc32c(const void *p, size_t len)
{
	static pthread_once_t filled = PTHREAD_ONCE_INIT;
	const uint8_t *b = p;
	uint32_t c = ~0u;

	pthread_once(&filled, fill_table);
	for (size_t i = 0; i < len; i++)
		c = c >> 8 ^ crc_table[(c ^ b[i]) & 255];
	return ~c;
}

uint32_t crc32c_masked(const void *p, size_t len)
{
	uint32_t c = crc32c(p, len);

	return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* ---- records ---- */

/* The file and its folders, where they are not there yet. */
static void make_file(struct tfevents *f)
{
	if (f->fd >= 0)
		return;
	int fd = run_open_file(f->run, f->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, &f->failed);
	if (fd >= 0)
		f->fd = fd;
}

/* All of it, or the file stays as it was, and it waits on. */
static void put_waiting(struct tfevents *f)
{
	f->failed.code = 0;
	make_file(f);
	if (!f->failed.code && run_append_whole(f->fd, &f->waiting))
		run_cannot(f->run, "write", f->path, -ERR_IO, &f->failed);
	if (!f->failed.code) {
		run_written(f->run, f->path);
		buf_clear(&f->waiting);
		f->nfirst = 0;
	}
	f->written = clock_seconds();
}

static void add_record(struct tfevents *f, const struct buf *event)
{
	struct buf *b = &f->waiting;
	size_t begin = b->len;

	if (b->len > TFEVENTS_WAITING_MAX)
		return;
	buf_u64(b, event->len);
	buf_u32(b, crc32c_masked(b->data + begin, 8));
	buf_add(b, event->data, event->len);
	buf_u32(b, crc32c_masked(event->data, event->len));
	if ((b->len > WAITING_MAX && !f->failed.code) || clock_seconds() - f->written > waiting_seconds)
		put_waiting(f);
}

static void begin_event(struct buf *event, uint64_t step)
{
	proto_f64(event, EVENT_TIME, clock_wall());
	if (step)
		proto_u64(event, EVENT_STEP, step);
}

/* Host and process in the name keep writers apart, as TensorFlow's do; so does the count. */
static void file_name(const char *dir, struct buf *path)
{
	static atomic_uint count;
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	for (char *c = host; *c; c++)
		if (*c == '/' || (unsigned char)*c <= ' ')
			*c = '_';
	buf_printf(path, "%s%sevents.out.tfevents.%.0f.%s.%ld.%u.v2", dir, *dir ? "/" : "", floor(clock_wall()), *host ? host : "host",
		(long)getpid(), atomic_fetch_add(&count, 1));
}

int tfevents_open(struct run *run, const char *dir, struct tfevents **out, struct err *e)
{
	buf_auto path = BUF_INIT, source = BUF_INIT, event = BUF_INIT;
	struct tfevents *f = mem_alloc(1, sizeof *f);

	file_name(dir, &path);
	f->fd = -1;
	f->run = run;
	f->path = buf_take(&path);
	f->written = clock_seconds();
	make_file(f);
	begin_event(&event, 0);
	proto_str(&event, EVENT_VERSION, "brain.Event:2");
	proto_str(&source, 1, "qcnn");
	proto_message(&event, EVENT_SOURCE, &source);
	add_record(f, &event);
	f->nfirst = f->waiting.len;
	*out = f;
	if (f->failed.code && e)
		*e = f->failed;
	return f->failed.code;
}

const char *tfevents_path(const struct tfevents *f) { return f->path; }

uint64_t tfevents_size(const struct tfevents *f)
{
	struct stat st;

	return f->fd < 0 || fstat(f->fd, &st) ? 0 : (uint64_t)st.st_size;
}

const void *tfevents_waiting(const struct tfevents *f, size_t *n)
{
	*n = f->waiting.len - f->nfirst;
	return f->waiting.data + f->nfirst;
}

void tfevents_add(struct tfevents *f, const struct buf *records)
{
	buf_add(&f->waiting, records->data, records->len);
}

int tfevents_flush(struct tfevents *f, struct err *e)
{
	if (!f)
		return 0;
	put_waiting(f);
	if (f->failed.code && e)
		*e = f->failed;
	return f->failed.code;
}

int tfevents_close(struct tfevents *f, struct err *e)
{
	if (!f)
		return 0;
	int code = tfevents_flush(f, e);
	if (code)                    /* nobody comes back to it later */
		code = tfevents_flush(f, e);
	if (f->fd >= 0 && close(f->fd) && !code)
		code = err_set(e, -ERR_IO, "cannot write %s: %s", f->path, strerror(errno));
	buf_release(&f->waiting);
	free(f->path);
	free(f);
	return code;
}

/* ---- summaries: a tag, a tensor, and the plugin that shows it ---- */

static void put_summary(struct tfevents *f, const char *tag, uint64_t step,
	const struct buf *tensor, const char *plugin, const struct buf *content)
{
	buf_auto value = BUF_INIT, shown = BUF_INIT, metadata = BUF_INIT, summary = BUF_INIT,
		 event = BUF_INIT;

	proto_str(&value, VALUE_TAG, tag);
	proto_message(&value, VALUE_TENSOR, tensor);
	proto_str(&shown, PLUGIN_NAME, plugin);
	if (content)
		proto_message(&shown, PLUGIN_CONTENT, content);
	proto_message(&metadata, METADATA_PLUGIN, &shown);
	proto_message(&value, VALUE_METADATA, &metadata);
	proto_message(&summary, SUMMARY_VALUE, &value);
	begin_event(&event, step);
	proto_message(&event, EVENT_SUMMARY, &summary);
	add_record(f, &event);
}

/* A tensor's type and dimensions; its content follows. */
static void begin_tensor(struct buf *tensor, enum data_type type, unsigned ndim, const uint64_t *dim)
{
	buf_auto shape = BUF_INIT;

	proto_u64(tensor, TENSOR_TYPE, type);
	for (unsigned k = 0; k < ndim; k++) {
		buf_auto size = BUF_INIT;

		proto_u64(&size, 1, dim[k]);
		proto_message(&shape, 2, &size);
	}
	proto_message(tensor, TENSOR_SHAPE, &shape);
}

/* A number; TENSOR_CONTENT has the lowest byte first, on every machine. */
static void put_number(struct tfevents *f, const char *tag, uint64_t step, float v,
	const char *plugin, const struct buf *shown)
{
	buf_auto tensor = BUF_INIT, content = BUF_INIT;
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	buf_u32(&content, bits);
	begin_tensor(&tensor, TYPE_FLOAT, 0, NULL);
	proto_message(&tensor, TENSOR_CONTENT, &content);
	put_summary(f, tag, step, &tensor, plugin, shown);
}

void tfevents_scalar(struct tfevents *f, const char *tag, uint64_t step, double value)
{
	put_number(f, tag, step, (float)value, "scalars", NULL);
}

void tfevents_text(struct tfevents *f, const char *tag, uint64_t step, const char *markdown)
{
	buf_auto tensor = BUF_INIT;

	begin_tensor(&tensor, TYPE_STRING, 0, NULL);
	proto_str(&tensor, TENSOR_STRING, markdown);
	put_summary(f, tag, step, &tensor, "text", NULL);
}

static void finite_range(const double *value, size_t n, double *low, double *high)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(value[i]))
			continue;
		*low = count && *low < value[i] ? *low : value[i];
		*high = count && *high > value[i] ? *high : value[i];
		count++;
	}
}

/* Rows (left, right, count); where all values are one, its edges are that value and the last
 * bucket has all (tensorboard/plugins/histogram/summary_v2.py). Values that are not finite are left out. */
void tfevents_histogram(struct tfevents *f, const char *tag, uint64_t step, const double *value, size_t n)
{
	double row[BUCKETS][3] = { { 0 } }, low = 0, high = 0;
	buf_auto tensor = BUF_INIT, content = BUF_INIT;

	finite_range(value, n, &low, &high);
	for (int k = 0; k < BUCKETS; k++) {
		row[k][0] = low + (high - low) * k / BUCKETS;
		row[k][1] = k + 1 == BUCKETS ? high : low + (high - low) * (k + 1) / BUCKETS;
	}
	for (size_t i = 0; i < n; i++) {
		double at = high > low ? floor((value[i] - low) / (high - low) * BUCKETS) : BUCKETS - 1;

		if (isfinite(value[i]))
			row[at < BUCKETS ? (int)at : BUCKETS - 1][2]++;
	}
	buf_f64s(&content, row[0], sizeof row / sizeof row[0][0]);
	begin_tensor(&tensor, TYPE_DOUBLE, 2, (const uint64_t[]){ BUCKETS, 3 });
	proto_message(&tensor, TENSOR_CONTENT, &content);
	put_summary(f, tag, step, &tensor, "histograms", NULL);
}

/* ---- graph ---- */

void tfevents_node(struct buf *graph, const char *name, const char *op, const char *const *input, unsigned ninput,
	const struct tfevents_attr *attr, unsigned nattr)
{
	buf_auto node = BUF_INIT, entry = BUF_INIT, value = BUF_INIT;

	proto_str(&node, NODE_NAME, name);
	proto_str(&node, NODE_OP, op);
	for (unsigned k = 0; k < ninput; k++)
		proto_str(&node, NODE_INPUT, input[k]);
	for (unsigned k = 0; k < nattr; k++) {
		buf_clear(&entry);
		buf_clear(&value);
		proto_str(&value, ATTR_BYTES, attr[k].value);
		proto_str(&entry, MAP_KEY, attr[k].key);
		proto_message(&entry, MAP_VALUE, &value);
		proto_message(&node, NODE_ATTR, &entry);
	}
	proto_message(graph, GRAPH_NODE, &node);
}

void tfevents_graph(struct tfevents *f, const struct buf *graph)
{
	buf_auto whole = BUF_INIT, versions = BUF_INIT, event = BUF_INIT;

	buf_add(&whole, graph->data ? graph->data : "", graph->len);
	proto_u64(&versions, VERSIONS_PRODUCER, 22);
	proto_message(&whole, GRAPH_VERSIONS, &versions);
	begin_event(&event, 0);
	proto_message(&event, EVENT_GRAPH, &whole);
	add_record(f, &event);
}

/* ---- hyperparameters ---- */

/* One entry of the map from names to google.protobuf.Value. */
void tfevents_hparam(struct buf *hparams, const char *name, const json_t *v)
{
	buf_auto entry = BUF_INIT, value = BUF_INIT;

	if (json_is_number(v))
		proto_f64(&value, STRUCT_NUMBER, json_number_value(v));
	else if (json_is_boolean(v))
		proto_u64(&value, STRUCT_BOOL, json_is_true(v));
	else if (json_is_string(v))
		proto_str(&value, STRUCT_TEXT, json_string_value(v));
	else
		return;
	proto_str(&entry, MAP_KEY, name);
	proto_message(&entry, MAP_VALUE, &value);
	proto_message(hparams, BEGIN_HPARAM, &entry);
}

/* The value is in the plugin's content; the tensor holds nothing. */
static void put_hparams(struct tfevents *f, const char *tag, unsigned field, const struct buf *info)
{
	buf_auto content = BUF_INIT;

	proto_message(&content, field, info);
	put_number(f, tag, 0, 0, "hparams", &content);
}

void tfevents_session_begin(struct tfevents *f, const struct buf *hparams, double wall_seconds)
{
	buf_auto info = BUF_INIT;

	buf_add(&info, hparams->data ? hparams->data : "", hparams->len);
	proto_f64(&info, BEGIN_TIME, wall_seconds);
	put_hparams(f, "_hparams_/session_start_info", HPARAMS_BEGIN, &info);
}

void tfevents_session_end(struct tfevents *f, bool well, double wall_seconds)
{
	buf_auto info = BUF_INIT;

	proto_u64(&info, END_STATUS, well ? STATUS_SUCCESS : STATUS_FAILURE);
	proto_f64(&info, END_TIME, wall_seconds);
	put_hparams(f, "_hparams_/session_end_info", HPARAMS_END, &info);
}
