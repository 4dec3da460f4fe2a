/* SPDX-License-Identifier: Apache-2.0
 * Checked allocation, and arenas as lists of blocks with a bump pointer. */
#include "runtime/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/err.h"
#include "runtime/base/memory_use.h"

enum { BLOCK_FIRST = 4096, BLOCK_LAST = 1 << 20, ALIGN = 16 };

struct arena_block {
	struct arena_block *below;
	size_t used, size;          /* bytes of data[] */
	_Alignas(ALIGN) char data[];
};

static void (*on_exhausted)(size_t nbytes);

void mem_on_exhausted(void (*handler)(size_t nbytes)) { on_exhausted = handler; }

static _Noreturn void exhausted(size_t nbytes)
{
	if (on_exhausted)
		on_exhausted(nbytes);
	fprintf(stderr, "qcnn: out of memory (%zu bytes)\n", nbytes);
	abort();
}

static size_t product(size_t n, size_t size)
{
	size_t nbytes;

	if (__builtin_mul_overflow(n, size, &nbytes) || nbytes > PTRDIFF_MAX - BLOCK_LAST)
		exhausted(SIZE_MAX);
	return nbytes;
}

void *mem_try(size_t n, size_t size)
{
	size_t nbytes;

	if (__builtin_mul_overflow(n, size, &nbytes) || nbytes > PTRDIFF_MAX)
		return NULL;
	return calloc(nbytes ? nbytes : 1, 1);
}

void mem_release(void *pointer)
{
	void *p;

	memcpy(&p, pointer, sizeof p);
	free(p);
}

void *mem_alloc(size_t n, size_t size)
{
	size_t nbytes = product(n, size);
	void *p = calloc(nbytes ? nbytes : 1, 1);

	if (!p)
		exhausted(nbytes);
	return p;
}

void *mem_grow(void *p, size_t n, size_t size)
{
	size_t nbytes = product(n, size);

	p = realloc(p, nbytes ? nbytes : 1);
	if (!p)
		exhausted(nbytes);
	return p;
}

char *mem_strdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(mem_alloc(len, 1), s, len);
}

void *mem_list_try(struct mem_list *l, size_t n, size_t size)
{
	mem_reserve(l->block, l->n, l->cap);
	l->block[l->n] = mem_try(n, size);
	l->failed |= !l->block[l->n];
	return l->block[l->n++];
}

void mem_list_free(struct mem_list *l)
{
	while (l->n)
		free(l->block[--l->n]);
	free(l->block);
	*l = (struct mem_list){ .n = 0 };
}

void arena_init(struct arena *a) { *a = (struct arena){ 0 }; }

static struct arena_block *block_for(struct arena *a, size_t nbytes)
{
	size_t size = a->top ? 2 * a->top->size : BLOCK_FIRST;

	if (size > BLOCK_LAST)
		size = BLOCK_LAST;
	if (size < nbytes)
		size = nbytes;
	struct arena_block *b = mem_alloc(1, sizeof *b + size);
	b->size = size;
	b->below = a->top;
	a->top = b;
	a->nbytes += size;
	memory_use(MEMORY_ARENAS, (int64_t)size);
	return b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t nbytes = product(n, size);
	struct arena_block *b = a->top;

	nbytes = (nbytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!b || b->size - b->used < nbytes)
		b = block_for(a, nbytes);
	void *p = b->data + b->used; /* blocks come zeroed and are used once */
	b->used += nbytes;
	return p;
}

void *arena_copy(struct arena *a, const void *p, size_t n, size_t size)
{
	void *copy = arena_alloc(a, n, size);

	if (n && size)
		memcpy(copy, p, n * size);
	return copy;
}

void *arena_grow(struct arena *a, void *list, size_t n, size_t size)
{
	if (n & (n - 1)) /* not full */
		return list;
	void *grown = arena_alloc(a, n ? 2 * n : 1, size);
	if (n)
		memcpy(grown, list, n * size);
	return grown;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = arena_alloc(a, len + 1, 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		BUG("bad format \"%s\"", fmt);
	char *s = arena_alloc(a, (size_t)len + 1, 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return s;
}

void arena_join(struct arena *a, struct arena *from)
{
	struct arena_block **end = &from->top;

	while (*end)
		end = &(*end)->below;
	*end = a->top;
	a->top = from->top;
	a->nbytes += from->nbytes;
	arena_init(from);
}

void arena_release(struct arena *a)
{
	struct arena_block *b, *below;

	for (b = a->top; b; b = below) {
		below = b->below;
		free(b);
	}
	memory_use(MEMORY_ARENAS, -(int64_t)a->nbytes);
	arena_init(a);
}
