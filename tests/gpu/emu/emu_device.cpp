// SPDX-License-Identifier: Apache-2.0
// The emulated device: the threads of a block are fibers of this thread, and every word of memory knows who touched it last.
//
// Blocks run one after the other in random order. Within a block warps, and within a warp lanes, run in random order until they
// meet others (a barrier, a shuffle) or end. An interval is the time between two barriers of a block; intervals are numbered
// through, so that a number says which block and which launch it belongs to.
#include "emu.h"
#include "emu_totals.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

alignas(1024) unsigned char smem_raw[EMU_SHARED_BYTES];
unsigned char *emu_memory;
dim3 threadIdx, blockIdx;
struct emu_totals emu_totals;

namespace
{

/* ---- threads ---- */

const size_t STACK_BYTES = 64 << 10;

enum state { RUNS, MEETS, ENDED };

struct access {
	const void *pc;
	uintptr_t at;
	unsigned size, kind, number; /* number: of the lane's accesses at this place */
};

struct fiber {
	void *sp;
	unsigned char *stack;
	unsigned number;
	enum state state;
	enum emu_meeting meeting;
	unsigned other; /* of a shuffle */
	int line;
	uint64_t value;
};

fiber threads[EMU_THREADS];
std::vector<access> logs[EMU_THREADS]; /* where accesses are counted */
thread_local fiber *now; /* the thread that runs; NULL: the host, or another thread of it */
void *scheduler_sp;
fiber *turns[33], **turn; /* threads of a warp that run one after the other, and NULL */
const std::function<void()> *body;

/* ---- the launch ---- */

uint32_t interval = 1, launch_first, block_first; /* this one, and the first of launch and block */
int launch_device;
size_t shared_bytes;
bool counted; /* sectors and bank conflicts are */

/* ---- findings ---- */

std::map<std::string, unsigned long> findings;

} // namespace

void emu_found(const char *what, const void *pc, const void *at)
{
	const unsigned long n = ++findings[what];

	if (n <= 3)
		fprintf(stderr,
			"emu: %s: pc %p, address %p, block %u, thread %u, interval %u of the block\n",
			what, pc, at, blockIdx.x, now ? now->number : 0, interval - block_first);
}

unsigned long emu_findings(void)
{
	unsigned long n = 0;

	for (auto &f : findings)
		n += f.second;
	return n;
}

unsigned emu_below(unsigned n)
{
	static uint64_t x = getenv("EMU_SEED") ? strtoull(getenv("EMU_SEED"), nullptr, 0) : 1;
	uint64_t z = x += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

namespace
{

void shuffle(std::vector<unsigned> &v)
{
	for (unsigned i = (unsigned)v.size(); i > 1; i--)
		std::swap(v[i - 1], v[emu_below(i)]);
}

std::vector<unsigned> numbers(unsigned n)
{
	std::vector<unsigned> v(n);

	for (unsigned i = 0; i < n; i++)
		v[i] = i;
	return v;
}

[[noreturn]] void stuck(const char *why, const fiber &f)
{
	emu_found(why, nullptr, nullptr);
	fprintf(stderr, "emu: the block cannot go on: thread %u waits at line %d\n", f.number, f.line);
	_Exit(EMU_STATUS);
}

/* ---- words ---- */

/* Who touched four bytes last. Readers are those since the last write. */
struct word {
	uint32_t write_interval, read_interval;
	uint16_t writer : 15, atomic : 1;
	uint16_t reader : 14, readers : 2; /* readers: enum */
};
enum { NO_READER, ONE_READER, READERS };

word *words; /* of the devices' memory */
word shared_words[EMU_SHARED_BYTES / 4];

/* What an allocation has of EMU_GAP_BYTES bytes, from their first, and the interval at whose end it was made. */
struct page {
	uint32_t nbyte, since;
};
page *pages; /* of the devices' memory */

bool is_shared(const void *p) { return (uintptr_t)p - (uintptr_t)smem_raw < EMU_SHARED_BYTES; }

/* Four bytes that a thread uses now: what was done before interval `first` is past, and what was written before `since` is not
 * there any more. */
struct use {
	uint32_t first, since;
	const void *pc, *at;
};

/* Did what thread `who` did in that interval end before what this thread does now? */
bool is_before(uint32_t when, unsigned who, const use &u)
{
	if (when < u.first)
		return true;
	/* else of another block of this launch, or of this one */
	return when >= block_first && (when != interval || who == now->number);
}

void read_word(word &w, const use &u)
{
	if (w.write_interval < u.since)
		emu_found(is_shared(u.at) ? "shared memory is read before it is written"
					  : "memory is read before it is written",
			u.pc, u.at);
	else if (!is_before(w.write_interval, w.writer, u))
		emu_found("race: read after write", u.pc, u.at);
	if (!w.readers || w.read_interval < u.first
		|| (w.read_interval >= block_first && w.read_interval != interval)) {
		w.readers = ONE_READER;
		w.read_interval = interval;
		w.reader = now->number & 0x3ff;
	} else if (w.read_interval != interval || w.reader != now->number) {
		w.readers = READERS; /* of several blocks, the first is kept */
	}
}

void write_word(word &w, bool atomic, const use &u)
{
	const bool written = w.write_interval >= u.since;

	if (atomic && !written)
		emu_found("memory is added to before it is written", u.pc, u.at);
	if (!(atomic && w.atomic)) {
		if (written && !is_before(w.write_interval, w.writer, u))
			emu_found("race: write after write", u.pc, u.at);
		if (w.readers
			&& !is_before(w.read_interval, w.readers == ONE_READER ? w.reader : 0xffff, u))
			emu_found("race: write after read", u.pc, u.at);
	}
	w = { interval, 0, (uint16_t)now->number, atomic, 0, NO_READER };
}

enum { READ, WRITE, ATOMIC, CLEAR };

/* Both parts of a complex number in global memory are one access in the machine code; g++ reports two, with a few others between. */
void log_access(std::vector<access> &log, const access &a, bool global)
{
	for (size_t k = log.size(); global && k > 0 && k + 4 > log.size(); k--) {
		access &other = log[k - 1];
		const uintptr_t first = std::min(a.at, other.at);

		if (other.kind == a.kind && other.size == a.size && a.size <= 8
			&& (a.at ^ other.at) == a.size && first % (2 * a.size) == 0) {
			other.at = first;
			other.size *= 2;
			return;
		}
	}
	log.push_back(a);
}

/* The launch that read and that wrote 32 bytes last: launches are numbered by their first intervals. */
struct sector {
	uint32_t read, written;
};
enum { SECTOR_BYTES = 32 };
sector *sectors; /* of the devices' memory */

void touch_sectors(const void *p, unsigned n, int kind)
{
	for (size_t k = emu_offset(p) / SECTOR_BYTES; k <= (emu_offset(p) + n - 1) / SECTOR_BYTES; k++) {
		uint32_t &last = kind == READ ? sectors[k].read : sectors[k].written;

		if (last != launch_first)
			(kind == READ ? emu_totals.read : emu_totals.written) += SECTOR_BYTES;
		last = launch_first;
	}
}

/* n: a power of two; p: shared memory, or a device's. */
template <unsigned n, int kind>
__attribute__((noinline)) void accessed(const void *p, const void *pc, bool global)
{
	const uintptr_t at = (uintptr_t)p;
	const size_t offset = global ? emu_offset(p) : at - (uintptr_t)smem_raw;
	const page *const g = pages + offset / EMU_GAP_BYTES; /* of global memory */
	const use u = { global ? launch_first : block_first, global ? g->since : block_first, pc, p };
	word *const w = (global ? words : shared_words) + offset / 4;

	if (at % n)
		emu_found("an address is not a multiple of the access's size", pc, p);
	if (global ? offset % EMU_GAP_BYTES + n > g->nbyte : offset + n > shared_bytes) {
		emu_found(global ? "out of the bounds of an allocation"
				 : "out of the bounds of shared memory",
			pc, p);
		return;
	}
	if (global && emu_device_of(p) != launch_device)
		emu_found("memory of another device", pc, p);
	for (unsigned k = 0; k < (n + 3) / 4; k++)
		if (kind == READ)
			read_word(w[k], u);
		else
			write_word(w[k], kind == ATOMIC, u);
	if (global && kind < ATOMIC)
		touch_sectors(p, n, kind);
	if (counted)
		log_access(logs[now->number], { pc, at, n, kind, 0 }, global);
}

/* Most accesses are reads of the launch's arguments. */
template <unsigned n, int kind>
__attribute__((always_inline)) inline void seen(const void *p, const void *pc)
{
	if (!now)
		return;
	if (is_shared(p))
		accessed<n, kind>(p, pc, false);
	else if (emu_on_device(p))
		accessed<n, kind>(p, pc, true);
	else if (kind && (uintptr_t)p - (uintptr_t)now->stack >= STACK_BYTES)
		emu_found("a kernel writes memory of the host, or of another thread", pc, p);
	/* else its own variables, or arguments */
}

/* ---- sectors and banks ---- */

struct counts {
	unsigned long requests, bytes, useful, sectors, wavefronts, least;
	bool shared;
	unsigned kind, size;
};
struct launches {
	unsigned long number, blocks;
};
const void *launched; /* the kernel that runs */
std::map<const void *, struct launches> launches;
std::map<std::pair<const void *, const void *>, counts> places; /* by kernel and place in it */

/* Units of that many bytes that accesses touch, each once. */
std::vector<uintptr_t> touched(const access *a, size_t n, unsigned unit)
{
	std::vector<uintptr_t> v;

	for (size_t k = 0; k < n; k++)
		for (uintptr_t u = a[k].at / unit; u <= (a[k].at + a[k].size - 1) / unit; u++)
			v.push_back(u);
	std::sort(v.begin(), v.end());
	v.erase(std::unique(v.begin(), v.end()), v.end());
	return v;
}

/* One instruction of a warp: 32 lanes of 4 bytes at a time in shared memory, 16 of 8, or 8 of 16. */
void count_shared(counts &c, const access *a, size_t n)
{
	const size_t together = a->size <= 4 ? 32 : 128 / a->size;

	for (size_t i = 0; i < n; i += together) {
		unsigned bank[32] = {}, most = 1;

		for (uintptr_t word : touched(a + i, std::min(together, n - i), 4))
			most = std::max(most, ++bank[word % 32]);
		c.wavefronts += most;
		c.least++;
	}
}

void count_request(const access *a, size_t n)
{
	counts &c = places[{ launched, a->pc }];

	c.shared = is_shared((const void *)a->at);
	c.kind = a->kind;
	c.size = a->size;
	c.requests++;
	c.bytes += n * a->size;
	if (c.shared) {
		count_shared(c, a, n);
	} else {
		c.sectors += touched(a, n, 32).size();
		c.useful += 4 * touched(a, n, 4).size();
	}
}

/* The i-th access at a place by each lane of a warp since its last meeting is one request. */
void count_warp(unsigned warp)
{
	std::vector<access> all;
	size_t n = 0;

	for (unsigned t = warp * 32; t < warp * 32 + 32; t++) {
		std::stable_sort(logs[t].begin(), logs[t].end(),
			[](const access &a, const access &b) { return a.pc < b.pc; });
		for (size_t k = 1; k < logs[t].size(); k++)
			if (logs[t][k].pc == logs[t][k - 1].pc)
				logs[t][k].number = logs[t][k - 1].number + 1;
		all.insert(all.end(), logs[t].begin(), logs[t].end());
		logs[t].clear();
	}
	std::stable_sort(all.begin(), all.end(), [](const access &a, const access &b) {
		return std::tie(a.pc, a.number) < std::tie(b.pc, b.number);
	});
	for (size_t k = 0; k < all.size(); k += n) {
		for (n = 1; k + n < all.size() && all[k + n].pc == all[k].pc
			&& all[k + n].number == all[k].number;
			n++)
			;
		count_request(&all[k], n);
	}
}

template <class T> T *map_memory(size_t n)
{
	void *const p = mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		perror("emu: mmap");
		_Exit(EMU_STATUS);
	}
	return (T *)p;
}

/* ---- changing threads ---- */

extern "C" void emu_switch(void **save, void *load);

/* Pushes what a function must keep, changes the stack, and pops. A new stack has zeros there, and run_threads to return to. */
#if defined(__x86_64__)
enum { KEPT = 6 };
asm(".text\n.globl emu_switch\n.type emu_switch,@function\nemu_switch:\n"
    "pushq %rbx\npushq %rbp\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbp\npopq %rbx\nret\n");
#elif defined(__aarch64__)
enum { KEPT = 19 };
asm(".text\n.globl emu_switch\n.type emu_switch,%function\nemu_switch:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp d8, d9, [sp, #80]\nstp d10, d11, [sp, #96]\nstp d12, d13, [sp, #112]\n"
    "stp d14, d15, [sp, #128]\nstp x29, x30, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp d8, d9, [sp, #80]\nldp d10, d11, [sp, #96]\nldp d12, d13, [sp, #112]\n"
    "ldp d14, d15, [sp, #128]\nldp x29, x30, [sp, #144]\nadd sp, sp, #160\nret\n");
#else
#error "threads are changed by a few instructions, which are missing for this processor"
#endif

/* Goes on with the next thread, or with the scheduler. Threads change into each other directly: as most return to the same places,
 * the processor predicts where. */
inline void yield(void **save)
{
	now = *turn++;
	if (now)
		threadIdx = dim3(now->number);
	emu_switch(save, now ? now->sp : scheduler_sp);
}

/* A fiber: a thread of each block. */
void run_threads()
{
	fiber &f = *now; /* it goes on in other threads of the host */

	for (;;) {
		(*body)();
		f.state = ENDED;
		yield(&f.sp);
	}
}

/* ---- meetings ---- */

/* True: the lanes of a warp go on from a shuffle, which orders no accesses to memory. */
bool meet_warp(fiber *lane)
{
	fiber *const end = lane + 32, *const f = std::find_if(lane, end, [](const fiber &g) {
		return g.state == MEETS && g.meeting != EMU_BLOCK;
	});
	uint64_t value[32];

	if (f == end)
		return false;
	for (unsigned l = 0; l < 32; l++) {
		if (lane[l].state == ENDED || lane[l].meeting != f->meeting || lane[l].line != f->line)
			stuck("lanes of a warp wait at different places", *f);
		if (lane[l].other > 31)
			stuck("a shuffle reads a lane that does not exist", lane[l]);
		value[l] = lane[l].value;
	}
	for (unsigned l = 0; l < 32; l++) {
		lane[l].value = value[l ^ lane[l].other];
		lane[l].state = RUNS;
	}
	return true;
}

void run_warp(unsigned warp, std::vector<unsigned> &lanes)
{
	fiber *const lane = &threads[warp * 32];

	do {
#ifdef EMU_CHECK /* where nothing is checked, other orders would show nothing */
		shuffle(lanes);
#endif
		turn = turns;
		for (unsigned l : lanes)
			if (lane[l].state == RUNS)
				*turn++ = &lane[l];
		*turn = nullptr;
		turn = turns;
		if (*turn)
			yield(&scheduler_sp);
		if (counted)
			count_warp(warp);
	} while (meet_warp(lane));
}

/* False: the block has ended. */
bool meet_block()
{
	const fiber *waits = nullptr, *ended = nullptr;

	for (const fiber &f : threads) {
		if (f.state == MEETS && waits && waits->line != f.line)
			stuck("threads wait at different barriers", f);
		(f.state == MEETS ? waits : ended) = &f;
	}
	if (!waits)
		return false;
	if (ended)
		stuck("some threads wait at a barrier, others have ended", *waits);
	for (fiber &f : threads)
		f.state = RUNS;
	interval++;
	return true;
}

void run_block()
{
	std::vector<unsigned> warps = numbers(EMU_THREADS / 32), lanes = numbers(32);

	block_first = ++interval;
	/* No numbers, of 4 bytes and of 8. Bytes that differ: of equal ones the compiler makes a call
	 * of memset, which takes longer. */
	std::fill_n((uint64_t *)smem_raw, shared_bytes / 8, UINT64_C(0xfff8fff1fff8fff2));
	memset(smem_raw + shared_bytes / 8 * 8, 0xff, shared_bytes % 8);
	for (fiber &f : threads)
		f.state = RUNS;
	do {
		shuffle(warps);
		for (unsigned w : warps)
			run_warp(w, lanes);
	} while (meet_block());
}

/* Stacks begin at different places of the cache: threads take turns often. */
void make_threads()
{
	const size_t apart = STACK_BYTES + 15 * 64;
	unsigned char *const stacks = map_memory<unsigned char>(EMU_THREADS * apart);

	for (unsigned t = 0; t < EMU_THREADS; t++) {
		fiber &f = threads[t];
		void **const top = (void **)(stacks + t * apart + STACK_BYTES) - 4;

		f.stack = stacks + t * apart;
		f.number = t;
		top[0] = (void *)run_threads; /* x86-64: at a multiple of 16, as after a call */
		f.sp = top - KEPT;
	}
}

} // namespace

void emu_run(int device, const void *kernel, dim3 grid, size_t shared,
	const std::function<void()> &threads_do)
{
	std::vector<unsigned> order = numbers(grid.x);

	body = &threads_do;
	launched = kernel;
	launches[kernel].number++;
	launches[kernel].blocks += order.size();
	launch_device = device;
	shared_bytes = shared;
	launch_first = interval + 1;
	ASAN_UNPOISON_MEMORY_REGION(smem_raw, shared);
	ASAN_POISON_MEMORY_REGION(smem_raw + shared, EMU_SHARED_BYTES - shared);
	emu_totals.launches++;
	emu_totals.blocks += order.size();
	shuffle(order);
	for (unsigned b : order) {
		blockIdx = dim3(b);
		run_block();
	}
}

void emu_open(void)
{
	const size_t nbyte = EMU_DEVICES_MAX * EMU_MEMORY_BYTES;

	emu_memory = map_memory<unsigned char>(nbyte);
	words = map_memory<word>(nbyte / 4);
	pages = map_memory<page>(nbyte / EMU_GAP_BYTES);
	sectors = map_memory<sector>(nbyte / SECTOR_BYTES);
	counted = getenv("EMU_COUNT");
	make_threads();
}

void emu_mark(void *p, size_t n, enum emu_bytes what)
{
#ifdef EMU_CHECK
	if (what == EMU_WRITTEN) {
		for (size_t k = emu_offset(p) / 4; k < (emu_offset(p) + n + 3) / 4; k++)
			words[k] = word{ interval, 0, 0, 0, 0, NO_READER };
		return;
	}
	page *g = pages + emu_offset(p) / EMU_GAP_BYTES;

	interval += what == EMU_TAKEN;
	for (size_t k = 0; k < n; k += EMU_GAP_BYTES)
		*g++ = { what == EMU_TAKEN ? (uint32_t)std::min<size_t>(n - k, EMU_GAP_BYTES) : 0,
			interval };
#else
	if (what == EMU_TAKEN) {
		ASAN_UNPOISON_MEMORY_REGION(p, n);
		ASAN_POISON_MEMORY_REGION((unsigned char *)p + n, EMU_GAP_BYTES);
	} else if (what == EMU_GIVEN_BACK) {
		ASAN_POISON_MEMORY_REGION(p, n);
	}
#endif
}

void emu_check(const void *p, size_t n, bool read, const char *who)
{
#ifdef EMU_CHECK
	for (size_t at = emu_offset(p) / 4 * 4; at < emu_offset(p) + n; at += 4) {
		const page &g = pages[at / EMU_GAP_BYTES];

		if (at % EMU_GAP_BYTES >= g.nbyte || (read && words[at / 4].write_interval < g.since)) {
			emu_found(who, nullptr, emu_memory + at);
			return;
		}
	}
#else
	(void)p, (void)n, (void)read, (void)who;
#endif
}

/* As addr2line and nm have it. */
extern "C" const char __executable_start;
static ptrdiff_t in_program(const void *pc) { return (const char *)pc - &__executable_start; }

void emu_print_counts(FILE *f)
{
	static const char *const name[] = { "read", "write", "atomic", "clear" };

	for (auto &l : launches)
		fprintf(f, "kernel %#tx launches %lu blocks %lu\n", in_program(l.first),
			l.second.number, l.second.blocks);
	for (auto &p : places)
		fprintf(f,
			"%#tx %s %s bytes %u requests %lu moved %lu sectors %lu wavefronts %lu least %lu kernel %#tx useful %lu\n",
			in_program(p.first.second), p.second.shared ? "shared" : "global",
			name[p.second.kind], p.second.size, p.second.requests, p.second.bytes,
			p.second.sectors, p.second.wavefronts, p.second.least,
			in_program(p.first.first), p.second.useful);
}

uint64_t emu_meet(enum emu_meeting kind, uint64_t value, unsigned other, int line)
{
	fiber *const f = now;

	f->meeting = kind;
	f->value = value;
	f->other = other;
	f->line = line;
	f->state = MEETS;
	yield(&f->sp);
	return f->value;
}

/* Asked by every thread at every barrier. */
bool emu_is_left_out(const char *file, int line)
{
	static const char *const without = getenv("EMU_WITHOUT");

	if (!without)
		return false;
	const char *const name = strrchr(file, '/');

	return without == std::string(name ? name + 1 : file) + ":" + std::to_string(line);
}

/* ---- accesses: those that have a function here, and those that the compiler reports ---- */

#ifdef EMU_CHECK
#define SEEN(p, n, kind) seen<n, kind>(p, __builtin_return_address(0))
#else
#define SEEN(p, n, kind) ((void)0)
#endif

/* An address that is no multiple of 16 is a finding, after which the kernel goes on. */
template <class V> static V load_16(const V *p)
{
	V x;

	SEEN(p, 16, READ);
	memcpy((void *)&x, (const char *)p, sizeof x);
	return x;
}
template <class V> static void save_16(V *p, V x)
{
	SEEN(p, 16, WRITE);
	memcpy((char *)p, (const void *)&x, sizeof x);
}

float4 __ldcs(const float4 *p) { return load_16(p); }
double2 __ldcs(const double2 *p) { return load_16(p); }
void __stcs(float4 *p, float4 x) { save_16(p, x); }
void __stcs(double2 *p, double2 x) { save_16(p, x); }

float emu_mad(float a, float b, float c)
{
	emu_totals.mads[0]++;
	return fmaf(a, b, c);
}
double emu_mad(double a, double b, double c)
{
	emu_totals.mads[1]++;
	return fma(a, b, c);
}

void __stcg(long long *p, long long x)
{
	SEEN(p, 8, CLEAR);
	*p = x;
}

long long __ldcg(const long long *p)
{
	SEEN(p, 8, READ);
	return *p;
}

unsigned atomicOr(unsigned *p, unsigned x)
{
	const unsigned before = *p;

	SEEN(p, 4, ATOMIC);
	*p |= x;
	return before;
}

unsigned long long atomicAdd(unsigned long long *p, unsigned long long x)
{
	const unsigned long long before = *p;

	SEEN(p, 8, ATOMIC);
	*p += x;
	return before;
}

#ifdef EMU_CHECK
extern "C" {
#define SIZE(n) \
	void __tsan_read##n(void *p) { SEEN(p, n, READ); } \
	void __tsan_write##n(void *p) { SEEN(p, n, WRITE); } \
	void __tsan_unaligned_read##n(void *p) { SEEN(p, n, READ); } \
	void __tsan_unaligned_write##n(void *p) { SEEN(p, n, WRITE); }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
#undef SIZE
void __tsan_read_range(void *p, size_t n)
{
	for (size_t k = 0; k < n; k += 4)
		SEEN((char *)p + k, 4, READ);
}
void __tsan_write_range(void *p, size_t n)
{
	for (size_t k = 0; k < n; k += 4)
		SEEN((char *)p + k, 4, WRITE);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
#endif
