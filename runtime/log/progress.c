/* SPDX-License-Identifier: Apache-2.0
 * Lines of progress: what is known about an epoch or start, and a bar that fits the width. */
#include "config.h"
#include "runtime/log/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/clock.h"

enum { WIDTH_UNKNOWN = 80, WIDTH_LEAST = 20, WIDTH_MOST = 1000, BAR_LEAST = 8, BAR_MOST = 30, BAR_FRAME = 4 };
static const double redraw_seconds = 1.0 / 20, slow_epoch_seconds = 1;

struct progress {
	struct progress_options o;
	double begun, drawn;         /* clock */
	bool bar;                    /* a bar is on the line */
	uint32_t start, epoch;       /* of the sum below */
	double loss_sum; uint32_t loss_count;
	struct buf last, remark;     /* what the last epoch line of this start said; a note on the start */
	double start_seconds;
	uint32_t best, done; double best_loss;
};

/* As many digits as people read; small numbers keep theirs. */
static void add_value(struct buf *b, const char *prefix, const char *name, double v)
{
	buf_printf(b, fabs(v) >= 1e-3 || v == 0 ? "  %s%s %.4f" : "  %s%s %.4e", prefix, name, v);
}

static void add_seconds(struct buf *b, double s)
{
	buf_printf(b, s < 1 ? "%.0f ms" : s < 10 ? "%.2f s" : "%.1f s", s < 1 ? 1000 * s : s);
}

static void add_left(struct buf *b, double s)
{
	unsigned long whole = s < 1e9 ? (unsigned long)ceil(s) : 1000000000;

	if (whole < 60)
		buf_printf(b, "  %lu s left", whole);
	else if (whole < 3600)
		buf_printf(b, "  %lu:%02lu left", whole / 60, whole % 60);
	else
		buf_printf(b, "  %lu:%02lu:%02lu left", whole / 3600, whole / 60 % 60, whole % 60);
}

static int digits(uint32_t n)
{
	return snprintf(NULL, 0, "%u", n);
}

/* "start 3/8  " where there are several. */
static void add_start(const struct progress *p, uint32_t start, struct buf *b)
{
	if (p->o.starts > 1)
		buf_printf(b, "start %*u/%u", digits(p->o.starts), start + 1, p->o.starts);
}

static void add_epoch(const struct progress *p, uint32_t start, uint32_t epoch, struct buf *b)
{
	add_start(p, start, b);
	buf_printf(b, "%sepoch %*u/%u", p->o.starts > 1 ? "  " : "", digits(p->o.epochs), epoch, p->o.epochs);
}

static void add_values(const struct progress *p, const struct progress_epoch *r, struct buf *b)
{
	add_value(b, "", "loss", r->loss);
	for (unsigned k = 0; k < p->o.nmetric; k++)
		add_value(b, "", p->o.metric[k], r->metric[k]);
	if (r->has_validation)
		add_value(b, "val_", "loss", r->val_loss);
	for (unsigned k = 0; r->has_validation && k < p->o.nmetric; k++)
		add_value(b, "val_", p->o.metric[k], r->val_metric[k]);
}

static void wipe_bar(struct progress *p)
{
	if (p->bar)
		fputs("\r\033[K", p->o.out);
	p->bar = false;
}

static void put_line(struct progress *p, const struct buf *b)
{
	wipe_bar(p);
	fprintf(p->o.out, "%s\n", b->data);
	fflush(p->o.out);
}

struct progress *progress_new(const struct progress_options *o)
{
	struct progress *p = mem_alloc(1, sizeof *p);

	p->o = *o;
	p->begun = clock_seconds();
	return p;
}

/* ---- the bar ---- */

/* Asked each time: windows change. */
static unsigned width_of(FILE *out)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = 0;

	if (!ioctl(fileno(out), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && columns)
		width = strtol(columns, NULL, 10);
	if (width <= 0)
		width = WIDTH_UNKNOWN;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : (unsigned)width;
}

static void add_bar(struct buf *b, unsigned columns, uint32_t step, uint32_t steps, bool colour)
{
	unsigned full = (unsigned)((uint64_t)columns * step / steps);

	buf_str(b, "  [");
	buf_str(b, colour ? "\033[32m" : "");
	buf_pad(b, '=', full);
	if (full < columns)
		buf_char(b, '>');
	buf_str(b, colour ? "\033[0m" : "");
	buf_pad(b, ' ', full < columns ? columns - full - 1 : 0);
	buf_char(b, ']');
}

/* What comes behind the bar, the most wanted first; each is left out where it does not fit,
 * the later ones also where the bar would have to give way. */
static void add_tail(const struct progress *p, uint32_t start, uint32_t epoch, uint32_t step, double now,
	size_t room, struct buf *b)
{
	double before = ((double)start * p->o.epochs + epoch - 1) * p->o.steps_per_epoch + step;
	double total = (double)p->o.starts * p->o.epochs * p->o.steps_per_epoch;
	double per_step = (now - p->begun) / before;
	struct buf part = BUF_INIT;

	for (int k = 0; k < 4; k++) {
		buf_clear(&part);
		if (k == 0)
			buf_printf(&part, "  %*u/%u", digits(p->o.steps_per_epoch), step, p->o.steps_per_epoch);
		else if (k == 1)
			add_value(&part, "", "loss", p->loss_sum / p->loss_count);
		else if (k == 2)
			add_left(&part, per_step * (total - before));
		else
			buf_printf(&part, "  %.1f ms/step", 1000 * per_step);
		if (b->len + part.len + (k < 2 ? 0 : BAR_LEAST + BAR_FRAME) <= room)
			buf_add(b, part.data, part.len);
	}
	buf_release(&part);
}

/* The last column stays empty: some terminals wrap when it is written. */
static void draw(struct progress *p, uint32_t start, uint32_t epoch, uint32_t step, double now)
{
	size_t room = width_of(p->o.out) - 1;
	struct buf line = BUF_INIT, tail = BUF_INIT;
	size_t spare;

	add_epoch(p, start, epoch, &line);
	line.len = line.len < room ? line.len : room;
	add_tail(p, start, epoch, step, now, room - line.len, &tail);
	spare = room - line.len - tail.len;
	if (spare >= BAR_LEAST + BAR_FRAME)
		add_bar(&line, spare - BAR_FRAME < BAR_MOST ? (unsigned)spare - BAR_FRAME : BAR_MOST, step, p->o.steps_per_epoch, p->o.colour);
	if (tail.len)
		buf_add(&line, tail.data, tail.len);
	fprintf(p->o.out, "\r%.*s\033[K", (int)line.len, line.data);
	fflush(p->o.out);
	p->bar = true;
	p->drawn = now;
	buf_release(&line);
	buf_release(&tail);
}

void progress_step(struct progress *p, uint32_t start, uint32_t epoch, uint32_t step, double batch_loss)
{
	double now;

	if (p->o.quiet || !p->o.terminal)
		return;
	if (p->start != start || p->epoch != epoch) {
		p->start = start;
		p->epoch = epoch;
		p->loss_sum = p->loss_count = 0;
	}
	p->loss_sum += batch_loss;
	p->loss_count++;
	now = clock_seconds();
	if (now - p->drawn >= redraw_seconds)
		draw(p, start, epoch, step, now);
}

/* ---- lines ---- */

void progress_epoch(struct progress *p, const struct progress_epoch *r)
{
	struct buf line = BUF_INIT;

	if (p->o.quiet)
		return;
	buf_clear(&p->last);
	add_values(p, r, &p->last);
	p->start_seconds += r->seconds;
	if (p->o.starts == 1 || r->seconds >= slow_epoch_seconds) {
		add_epoch(p, r->start, r->epoch, &line);
		buf_add(&line, p->last.data, p->last.len);
		buf_str(&line, "  ");
		add_seconds(&line, r->seconds);
		put_line(p, &line);
	}
	buf_release(&line);
}

void progress_note(struct progress *p, uint32_t start, const char *text)
{
	struct buf line = BUF_INIT;

	(void)start;
	if (!p || p->o.quiet)
		return;
	buf_str(&line, text);
	if (p->o.starts == 1) {
		put_line(p, &line);
	} else {
		buf_clear(&p->remark);
		buf_str(&p->remark, text);
	}
	buf_release(&line);
}

void progress_clear(struct progress *p)
{
	if (!p)
		return;
	wipe_bar(p);
	fflush(p->o.out);
}

void progress_start_done(struct progress *p, uint32_t start, double final_loss)
{
	struct buf line = BUF_INIT;

	if (p->o.quiet || p->o.starts == 1)
		return;
	if (!p->done++ || final_loss < p->best_loss) {
		p->best = start;
		p->best_loss = final_loss;
	}
	add_start(p, start, &line);
	if (p->last.len)
		buf_add(&line, p->last.data, p->last.len);
	else
		add_value(&line, "", "loss", final_loss);
	buf_str(&line, "  ");
	add_seconds(&line, p->start_seconds);
	if (p->remark.len)
		buf_printf(&line, "  %s", p->remark.data);
	put_line(p, &line);
	buf_clear(&p->last);
	buf_clear(&p->remark);
	p->start_seconds = 0;
	if (p->done == p->o.starts) {
		buf_clear(&line);
		buf_printf(&line, "best of %u starts: start %u", p->o.starts, p->best + 1);
		add_value(&line, "", "loss", p->best_loss);
		put_line(p, &line);
	}
	buf_release(&line);
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	if (p->bar) {
		fputc('\n', p->o.out);
		fflush(p->o.out);
	}
	buf_release(&p->last);
	buf_release(&p->remark);
	free(p);
}
