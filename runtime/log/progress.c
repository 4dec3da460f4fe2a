/* SPDX-License-Identifier: Apache-2.0
 * Lines of progress: what is known about an epoch or restart, and a bar that fits the width. */
#include "runtime/log/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/threads.h"
#include "runtime/log/live.h"
#include "runtime/log/terminal.h"

enum { PLOT_MOST = 14, BAR_LEAST = 8, BAR_MOST = 30, BAR_FRAME = 4 };
static const double redraw_seconds = 1.0 / 20, slow_epoch_seconds = 1;

struct progress {
	struct progress_options o;
	double begun, drawn;         /* clock */
	bool bar;                    /* a bar is on the line */
	unsigned plot;               /* lines of curves above it */
	struct live live;
	uint32_t live_restart;       /* of this restart; UINT32_MAX: none runs */
	struct live best;            /* of o.best */
	double base;                 /* steps that were done before this process began; NaN: not known yet */
	uint32_t restart, epoch, step; /* of the sum below; the last step */
	double loss_sum; uint32_t loss_count;
	struct buf waiting;          /* lines not yet printed */
	struct buf last, last_val,
		remark; /* what the last epoch line of this restart said; a note on the restart */
	double start_seconds;
	uint32_t done;
	struct buf lines; /* of others, as they were last asked for */
};

static void draw(struct progress *p, uint32_t restart, uint32_t epoch, uint32_t step, double now);

/* Are curves wanted, and is there a terminal for them? */
static bool live(const struct progress *p) { return p->o.live && p->o.terminal && !p->o.quiet; }

/* As many digits as people read; small numbers keep theirs. */
static void add_value(const struct progress *p, struct buf *b, const char *name, double v)
{
	int decimals = p->o.energies ? 8 : 4;

	buf_printf(b, fabs(v) >= 1e-3 || v == 0 ? "  %s %.*f" : "  %s %.*e", name, decimals, v);
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

static int digits(uint32_t n) { return snprintf(NULL, 0, "%u", n); }

/* "restart 3/8  " where there are several. */
static void add_restart(const struct progress *p, uint32_t restart, struct buf *b)
{
	if (p->o.restarts > 1)
		buf_printf(b, "restart %*u/%u", digits(p->o.restarts), restart + 1, p->o.restarts);
}

static void add_epoch(const struct progress *p, uint32_t restart, uint32_t epoch, struct buf *b)
{
	add_restart(p, restart, b);
	buf_printf(b, "%sepoch %*u/%u", p->o.restarts > 1 ? "  " : "", digits(p->o.epochs), epoch,
		p->o.epochs);
}

static void add_values(const struct progress *p, const struct metrics_line *values,
	enum metrics_part part, struct buf *b)
{
	for (unsigned k = 0; k < values->n; k++) {
		const struct metrics_value *v = &values->value[k];

		if (v->part == part && v->given && !v->side)
			add_value(p, b, v->name, v->number);
	}
}

/* What takes bar and curves away, and the lines that wait to stand above them. */
static void add_wiped(struct progress *p, struct buf *out)
{
	if (p->bar && p->plot)
		buf_printf(out, "\r\033[%uA\033[J", p->plot);
	else if (p->bar)
		buf_str(out, "\r\033[K");
	p->bar = false;
	p->plot = 0;
	buf_add(out, p->waiting.data ? p->waiting.data : "", p->waiting.len);
	buf_clear(&p->waiting);
}

/* One write: what is drawn in pieces flickers. */
static void put(struct progress *p, struct buf *b)
{
	fwrite(b->data ? b->data : "", 1, b->len, p->o.out);
	fflush(p->o.out);
	buf_release(b);
}

static void wipe(struct progress *p)
{
	struct buf out = BUF_INIT;

	add_wiped(p, &out);
	put(p, &out);
}

/* With curves lines wait for the next drawing, so that these are not drawn for each. */
static void put_line(struct progress *p, const struct buf *b)
{
	buf_printf(&p->waiting, "%s\n", b->data);
	if (!live(p))
		wipe(p);
	else if (clock_seconds() - p->drawn >= redraw_seconds && p->step)
		draw(p, p->restart, p->epoch, p->step, clock_seconds());
}

/* ---- folding ---- */

/* Items that each begin with two spaces, behind what is in `line`; where they would pass the width, on
 * further lines below the first, as far to the left as a long item needs. */
static void add_folded(struct buf *line, size_t *start, size_t indent, const char *items, size_t width)
{
	while (*items) {
		const char *end = strstr(items + 2, "  ");
		size_t len = end ? (size_t)(end - items) : strlen(items);

		if (line->len - *start + len > width && line->len - *start > indent) {
			buf_char(line, '\n');
			*start = line->len;
		}
		if (line->len == *start)
			buf_pad(line, ' ', indent + len <= width ? indent : len < width ? width - len : 0);
		buf_add(line, items, len);
		items += len;
	}
}

/* head, the numbers of training and of validation, and what comes last; one line, unless a terminal is narrower:
 * then validation begins a line. */
static void put_values(struct progress *p, const struct buf *head, const struct buf *tail)
{
	size_t width = terminal_width(p->o.out, NULL) - 1, start = 0, indent = head->len;
	buf_auto line = BUF_INIT;

	buf_add(&line, head->data, head->len);
	if (!p->o.terminal || head->len + p->last.len + p->last_val.len + tail->len <= width) {
		buf_printf(&line, "%s%s%s", p->last.data, p->last_val.len ? p->last_val.data : "", tail->data);
	} else {
		add_folded(&line, &start, indent, p->last.data, width);
		add_folded(&line, &start, indent, tail->data, width);
		if (p->last_val.len) {
			buf_char(&line, '\n');
			start = line.len;
			add_folded(&line, &start, indent, p->last_val.data, width);
		}
	}
	put_line(p, &line);
}

struct progress *progress_new(const struct progress_options *o)
{
	struct progress *p = mem_alloc(1, sizeof *p);

	p->o = *o;
	p->begun = clock_seconds();
	p->done = o->restarts_done;
	p->base = NAN;
	p->live_restart = UINT32_MAX;
	return p;
}

/* ---- the bar ---- */

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
static void add_tail(const struct progress *p, uint32_t restart, uint32_t epoch, uint32_t step,
	double now, size_t room, struct buf *b)
{
	double before = ((double)restart * p->o.epochs + epoch - 1) * p->o.steps_per_epoch + step;
	double total = (double)p->o.restarts * p->o.epochs * p->o.steps_per_epoch;
	double per_step = (now - p->begun) / (before - p->base);
	buf_auto part = BUF_INIT;

	for (int k = 0; k < 4; k++) {
		buf_clear(&part);
		if (k == 0)
			buf_printf(&part, "  %*u/%u", digits(p->o.steps_per_epoch), step, p->o.steps_per_epoch);
		else if (k == 1)
			add_value(p, &part, "loss", p->loss_sum / p->loss_count);
		else if (k == 2)
			add_left(&part, per_step * (total - before));
		else
			buf_printf(&part, "  %.1f ms/step", 1000 * per_step);
		if (b->len + part.len + (k < 2 ? 0 : BAR_LEAST + BAR_FRAME) <= room)
			buf_add(b, part.data, part.len);
	}
}

/* ---- the curves ---- */

/* How many lines: a third of the window, and none in a small one. */
static unsigned plot_rows(const struct progress *p, unsigned *width)
{
	unsigned height;

	*width = terminal_width(p->o.out, &height);
	return height / 3 < PLOT_MOST ? height / 3 : PLOT_MOST;
}

/* The lines of others, for the next drawing: they have locks of their own, under which they may write messages. */
static void ask_lines(struct progress *p)
{
	unsigned width;

	if (!p->o.lines || !p->o.terminal)
		return;
	buf_clear(&p->lines);
	p->o.lines(p->o.lines_ctx, plot_rows(p, &width), &p->lines);
}

/* Cut to the width. */
static void add_lines(const struct progress *p, size_t width, struct buf *out)
{
	for (const char *at = p->lines.data, *end; at && *at; at = end + 1) {
		size_t len = (size_t)((end = strchr(at, '\n')) - at);

		buf_add(out, at, len < width ? len : width);
		buf_char(out, '\n');
	}
}

/* The restart that runs, or while it has too little to be drawn, and at the end, the best so far. */
static void add_curves(const struct progress *p, unsigned rows, unsigned width, struct buf *out)
{
	const char *metric = p->o.live_metric ? p->o.live_metric : "loss";
	bool best = p->best.n > 1 && (p->live_restart == UINT32_MAX || p->live.n < 2);
	uint32_t restart = best ? p->o.best : p->live_restart;
	buf_auto name = BUF_INIT;

	buf_str(&name, metric);
	if (p->o.restarts > 1)
		buf_printf(&name, " of %srestart %u", best ? "the best, " : "", restart + 1);
	live_draw(best ? &p->best : &p->live, name.data, rows, width, live_utf8(), p->o.colour, out);
}

static void draw_plot(struct progress *p, struct buf *out)
{
	unsigned width, rows = plot_rows(p, &width);

	if (live(p))
		add_curves(p, rows, width, out);
	add_lines(p, width - 1, out);
}

static unsigned lines_of(const struct buf *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

/* The first restart that is not done, where several run side by side. */
static void add_point(struct progress *p, uint32_t restart, uint32_t epoch, double training,
	double validation)
{
	if (!live(p))
		return;
	if (p->live_restart == UINT32_MAX) {
		p->live_restart = restart;
		live_clear(&p->live);
	}
	if (restart == p->live_restart)
		live_add(&p->live, epoch, training, validation);
}

static double value_of(const struct metrics_line *values, const char *prefix, const char *name)
{
	char whole[METRICS_NAME_MAX];

	snprintf(whole, sizeof whole, "%s%s", prefix, name);
	const struct metrics_value *v = metrics_find(values, whole);
	return v ? v->number : NAN;
}

void progress_past(struct progress *p, uint32_t restart, uint32_t epoch, double training,
	double validation)
{
	if (restart >= p->o.restarts_done)
		add_point(p, restart, epoch, training, validation);
	else if (live(p) && restart == p->o.best)
		live_add(&p->best, epoch, training, validation);
}

/* The last columns stay empty: some terminals wrap when the last is written, and the ^C that they show must not wrap
 * either, else the bar stays above the line that is cleared. */
static void draw(struct progress *p, uint32_t restart, uint32_t epoch, uint32_t step, double now)
{
	size_t room = terminal_width(p->o.out, NULL) - sizeof "^C";
	buf_auto line = BUF_INIT, tail = BUF_INIT, plot = BUF_INIT, frame = BUF_INIT;

	add_epoch(p, restart, epoch, &line);
	line.len = line.len < room ? line.len : room;
	add_tail(p, restart, epoch, step, now, room - line.len, &tail);
	size_t spare = room - line.len - tail.len;
	if (spare >= BAR_LEAST + BAR_FRAME)
		add_bar(&line, spare - BAR_FRAME < BAR_MOST ? (unsigned)spare - BAR_FRAME : BAR_MOST, step, p->o.steps_per_epoch, p->o.colour);
	if (tail.len)
		buf_add(&line, tail.data, tail.len);
	draw_plot(p, &plot);
	if (plot.len || p->plot || p->waiting.len)
		add_wiped(p, &frame);
	p->plot = lines_of(&plot);
	buf_add(&frame, plot.data ? plot.data : "", plot.len);
	buf_printf(&frame, "\r%.*s\033[K", (int)line.len, line.data);
	put(p, &frame);
	p->bar = true;
	p->drawn = now;
}

void progress_step(struct progress *p, uint32_t restart, uint32_t epoch, uint32_t step,
	double batch_loss)
{
	if (p->o.quiet || !p->o.terminal)
		return;
	double now = clock_seconds();
	bool due = now - p->drawn >= redraw_seconds;
	if (due)
		ask_lines(p);
	mutex_auto held = mutex_hold(p->o.lock);
	if (p->restart != restart || p->epoch != epoch) {
		p->restart = restart;
		p->epoch = epoch;
		p->loss_sum = p->loss_count = 0;
	}
	if (isnan(p->base))
		p->base = ((double)restart * p->o.epochs + epoch - 1) * p->o.steps_per_epoch + step
			- 1;
	p->step = step;
	p->loss_sum += batch_loss;
	p->loss_count++;
	if (due)
		draw(p, restart, epoch, step, now);
}

/* ---- lines ---- */

static void keep_values(struct progress *p, const struct metrics_line *values)
{
	buf_clear(&p->last);
	buf_clear(&p->last_val);
	add_values(p, values, METRICS_TRAINING, &p->last);
	add_values(p, values, METRICS_VALIDATION, &p->last_val);
}

void progress_epoch(struct progress *p, uint32_t restart, uint32_t epoch, double seconds,
	const struct metrics_line *values)
{
	const char *name = p->o.live_metric ? p->o.live_metric : "loss";
	buf_auto head = BUF_INIT, tail = BUF_INIT;

	if (p->o.quiet)
		return;
	ask_lines(p);
	mutex_auto held = mutex_hold(p->o.lock);
	add_point(p, restart, epoch, value_of(values, "", name), value_of(values, "val_", name));
	keep_values(p, values);
	p->start_seconds += seconds;
	if (p->o.restarts == 1 || seconds >= slow_epoch_seconds) {
		add_epoch(p, restart, epoch, &head);
		buf_str(&tail, "  ");
		add_seconds(&tail, seconds);
		put_values(p, &head, &tail);
	}
}

void progress_note(struct progress *p, const char *text)
{
	if (!p || p->o.quiet)
		return;
	ask_lines(p);
	mutex_auto held = mutex_hold(p->o.lock);
	buf_clear(&p->remark);
	buf_str(&p->remark, text);
	if (p->o.restarts == 1)
		put_line(p, &p->remark);
}

void progress_restored(struct progress *p, uint32_t epoch, const struct metrics_line *values)
{
	if (p->o.quiet || p->o.restarts == 1)
		return;
	keep_values(p, values);
	if (epoch < p->o.epochs)
		buf_printf(&p->remark, "%swith the weights of epoch %u", p->remark.len ? ", " : "",
			epoch);
}

void progress_clear(struct progress *p)
{
	if (p)
		wipe(p);
}

/* The best so far, whose curves are kept. */
static void keep_best(struct progress *p, uint32_t restart, double final_loss)
{
	struct live before = p->best;

	p->o.best = restart;
	p->o.best_loss = final_loss;
	if (restart == p->live_restart) {
		p->best = p->live;
		p->live = before;
	} else {
		live_clear(&p->best);
	}
}

void progress_restart_done(struct progress *p, uint32_t restart, double final_loss)
{
	buf_auto line = BUF_INIT, tail = BUF_INIT;

	if (p->o.quiet || p->o.restarts == 1)
		return;
	ask_lines(p);
	mutex_auto held = mutex_hold(p->o.lock);
	if (!p->done++ || final_loss < p->o.best_loss)
		keep_best(p, restart, final_loss);
	add_restart(p, restart, &line);
	if (!p->last.len)
		add_value(p, &p->last, "loss", final_loss);
	buf_str(&tail, "  ");
	add_seconds(&tail, p->start_seconds);
	if (p->remark.len)
		buf_printf(&tail, "  %s", p->remark.data);
	put_values(p, &line, &tail);
	if (restart == p->live_restart) {
		p->live_restart = UINT32_MAX;
		live_clear(&p->live);
	}
	buf_clear(&p->last_val);
	buf_clear(&p->last);
	buf_clear(&p->remark);
	p->start_seconds = 0;
	if (p->done == p->o.restarts) {
		buf_clear(&line);
		buf_printf(&line, "best of %u restarts: restart %u", p->o.restarts, p->o.best + 1);
		add_value(p, &line, "loss", p->o.best_loss);
		put_line(p, &line);
	}
}

void progress_free(struct progress *p)
{
	struct buf out = BUF_INIT;

	if (!p)
		return;
	ask_lines(p);
	pthread_mutex_lock(p->o.lock);
	if (live(p)) {               /* the curves stay, without the bar */
		add_wiped(p, &out);
		draw_plot(p, &out);
	} else if (p->bar) {
		buf_char(&out, '\n');
	}
	put(p, &out);
	pthread_mutex_unlock(p->o.lock);
	buf_release(&p->lines);
	buf_release(&p->waiting);
	live_release(&p->live);
	live_release(&p->best);
	buf_release(&p->last);
	buf_release(&p->last_val);
	buf_release(&p->remark);
	free(p);
}
