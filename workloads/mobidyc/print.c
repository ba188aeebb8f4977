#include "print.h"

#include "chronicle.h"

#include <jansson.h>

static json_t *course_json(const struct world *world, size_t slot) {
    struct course c = chronicle_course(world, slot);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "first", (json_int_t)c.first, "last", (json_int_t)c.last, "min",
                     (json_int_t)c.least, "max", (json_int_t)c.most, "sum", (json_int_t)c.sum, "swings",
                     (json_int_t)c.swings);
}

static json_t *deaths_json(const int64_t deaths[DEATHS]) {
    return json_pack("{s:I, s:I, s:I}", "hunger", (json_int_t)deaths[OF_HUNGER], "age", (json_int_t)deaths[OF_AGE],
                     "wolf", (json_int_t)deaths[BY_WOLF]);
}

static json_t *species_json(const struct world *world, enum species species) {
    const struct species_ledger *ledger = &world->ledger.of[species];
    json_t *energy =
        json_pack("{s:I, s:I, s:I, s:o, s:I, s:I}", "initial", (json_int_t)ledger->initial, "intake",
                  (json_int_t)ledger->intake, "respired", (json_int_t)ledger->respired, "lost",
                  deaths_json(ledger->lost), "given", (json_int_t)ledger->given, "left", (json_int_t)ledger->left);
    return json_pack("{s:o, s:I, s:o, s:o}", "population", course_json(world, CENSUS_ANIMATS + species), "births",
                     (json_int_t)ledger->births, "deaths", deaths_json(ledger->deaths), "energy", energy);
}

bool print_json(struct world *world) {
    const struct ledger *ledger = &world->ledger;
    /* json_pack gives NULL, and lets the parts go, where one of them is NULL. */
    json_t *grass = json_pack("{s:o, s:I, s:I, s:I, s:I}", "amount", course_json(world, CENSUS_GRASS), "initial",
                              (json_int_t)ledger->grass_initial, "grown", (json_int_t)ledger->grass_grown, "eaten",
                              (json_int_t)ledger->of[GOAT].intake, "left", (json_int_t)ledger->grass_left);
    json_t *root = json_pack("{s:o, s:o, s:o, s:I}", "grass", grass, "goats", species_json(world, GOAT), "wolves",
                             species_json(world, WOLF), "wasted", (json_int_t)ledger->wasted);
    if (root == NULL) {
        return program_fail(world->program, "no memory to print the result");
    }
    bool ok = json_dumpf(root, stdout, 0) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return ok || program_fail(world->program, "the result can't be written");
}

static void print_course(const struct world *world, const char *name, size_t slot) {
    struct course c = chronicle_course(world, slot);
    printf("%-7s %12lld %12lld %12lld %12lld %8lld\n", name, (long long)c.first, (long long)c.last, (long long)c.least,
           (long long)c.most, (long long)c.swings);
}

static void print_species(const struct world *world, const char *name, enum species species) {
    const struct species_ledger *ledger = &world->ledger.of[species];
    printf("%-7s %12lld %12lld %12lld %12lld %12lld %12lld\n", name, (long long)ledger->births,
           (long long)ledger->deaths[OF_HUNGER], (long long)ledger->deaths[OF_AGE], (long long)ledger->deaths[BY_WOLF],
           (long long)ledger->intake, (long long)ledger->respired);
}

void print_table(const struct world *world) {
    printf("%-7s %12s %12s %12s %12s %8s\n", "", "first", "last", "least", "most", "swings");
    print_course(world, "grass", CENSUS_GRASS);
    print_course(world, "goats", CENSUS_ANIMATS + GOAT);
    print_course(world, "wolves", CENSUS_ANIMATS + WOLF);
    printf("\n%-7s %12s %12s %12s %12s %12s %12s\n", "", "births", "hunger", "age", "wolf", "intake", "respired");
    print_species(world, "goats", GOAT);
    print_species(world, "wolves", WOLF);
}
