/* Attributes of C objects, with destroy notifications. Ends with an error if a count is wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The table of `src/lib.rs`. */
typedef struct attributes attributes;
attributes *attributes_new(void);
void attributes_free(attributes *);
void attributes_set(attributes *, void **anchor, void *data, void (*notify)(void *));
void *attributes_get(attributes *, void **anchor);
bool attributes_remove(attributes *, void **anchor);
size_t attributes_len(attributes *);
void anchor_clear(void **anchor);
bool anchor_clear_wait(attributes *, void **anchor);

enum { MANY = 100000, THREADS = 4, PART = MANY / THREADS };

typedef struct {
    int number;
    void *anchor; /* Zero: nobody watches. */
} object;

typedef struct {
    object **part, *common;
} work;

static attributes *names, *owned;
static atomic_size_t notified, objects;

#define CHECK(it) ((it) ? (void)0 : (fprintf(stderr, "line %d: not so: %s\n", __LINE__, #it), exit(1)))

static object *object_new(int number) {
    object *it = calloc(1, sizeof *it);
    CHECK(it);
    it->number = number;
    objects++;
    return it;
}

static void object_free(object *it) {
    anchor_clear(&it->anchor);
    free(it);
    objects--;
}

static void free_name(void *name) {
    free(name);
    notified++;
}

static void give_name(object *it) {
    int *name = malloc(sizeof *name);
    CHECK(name);
    *name = it->number;
    attributes_set(names, &it->anchor, name, free_name);
}

/* The value is an object, which dies with its owner; before that it gets a name. */
static void free_owned(void *it) {
    give_name(it);
    object_free(it);
    notified++;
}

static void shuffle(object **all, size_t count) {
    uint64_t seed = count;
    for (size_t left = count; left > 1; left--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        object **other = &all[(seed >> 33) % left], *it = *other;
        *other = all[left - 1];
        all[left - 1] = it;
    }
}

/* Objects die in any order, and the notification has run when the object is gone. */
static void any_order(object **all) {
    for (int number = 0; number < MANY; number++) {
        give_name(all[number] = object_new(number));
        CHECK(*(int *)attributes_get(names, &all[number]->anchor) == number);
    }
    CHECK(attributes_len(names) == MANY);
    shuffle(all, MANY);
    for (size_t gone = 0; gone < MANY; gone++) {
        CHECK(notified == gone);
        object_free(all[gone]);
    }
    CHECK(notified == MANY && attributes_len(names) == 0);
}

/* What is replaced and what is removed is notified at once, and once. */
static void replaced(void) {
    object *it = object_new(1);
    notified = 0;
    give_name(it);
    give_name(it);
    CHECK(notified == 1 && attributes_remove(names, &it->anchor) && !attributes_get(names, &it->anchor));
    CHECK(notified == 2 && !attributes_remove(names, &it->anchor));
    object_free(it);
    CHECK(notified == 2);
}

/* A notification destroys the next object, whose notification does the same: no deep stack. */
static void chain(void) {
    object *last = object_new(0);
    for (int number = 1; number <= MANY; number++) {
        object *owner = object_new(number);
        attributes_set(owned, &owner->anchor, last, free_owned);
        last = owner;
    }
    notified = 0;
    object_free(last);
    CHECK(notified == 2 * MANY);
}

static void tell(void *told) {
    *(bool *)told = true;
}

/* A value in the memory of the caller, which has to wait for the notification. */
static void on_the_stack(void) {
    void *anchor = NULL;
    bool told = false;
    attributes_set(names, &anchor, &told, tell);
    CHECK(anchor_clear_wait(names, &anchor) && told && !anchor);
}

/* Each thread has objects of its own, and one object whose name all threads replace. */
static void *churn(void *data) {
    work *mine = data;
    for (int number = 0; number < PART; number++) {
        give_name(mine->part[number] = object_new(number));
        give_name(mine->common);
        on_the_stack();
    }
    shuffle(mine->part, PART);
    for (int number = 0; number < PART; number++)
        object_free(mine->part[number]);
    return NULL;
}

static void threads(object **all) {
    pthread_t running[THREADS];
    work parts[THREADS];
    object *common = object_new(0);
    notified = 0;
    for (int number = 0; number < THREADS; number++) {
        parts[number] = (work){all + number * PART, common};
        CHECK(!pthread_create(&running[number], NULL, churn, &parts[number]));
    }
    for (int number = 0; number < THREADS; number++)
        CHECK(!pthread_join(running[number], NULL));
    object_free(common);
    CHECK(notified == 2 * MANY && attributes_len(names) == 0);
}

int main(void) {
    object **all = calloc(MANY, sizeof *all), *left = object_new(1);
    CHECK(all && (names = attributes_new()) && (owned = attributes_new()));
    any_order(all);
    replaced();
    chain();
    threads(all);
    give_name(left);
    notified = 0;
    attributes_free(names); /* before the object, with all that is left */
    attributes_free(owned);
    CHECK(notified == 1);
    object_free(left);
    CHECK(objects == 0);
    free(all);
    puts("each was notified once");
}
