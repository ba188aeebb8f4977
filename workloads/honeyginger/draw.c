/* The picture: 8 by 8 pixels of a byte for each cell. For each cell with particles a Form is made, its tile; each
 * particle fills its bounds, cut off at the tile, with a colour that says how fast it is; and the tile is copied to the
 * display. */
#include "fluid.h"

#include <string.h>

enum { TILE = 8, RADIUS = 1 };
enum { CELL, FORM_MADE, BITS, ORIGIN, CORNER, DRAWN, LOCALS };

/* FORM_MADE becomes an empty Form; where it stands on the display is its offset. */
static bool form_make(struct fluid *fluid, eden_value *local, enum fluid_site site, size_t width, size_t height,
                      eden_value x, eden_value y) {
    eden_mutator *m = fluid->mutator;
    local[BITS] = fluid_new(fluid, eden_new_raw(m, fluid->sites[SITE_TILE_BITS], width * height));
    if (local[BITS] == EDEN_NONE) {
        return false;
    }
    memset(eden_raw(local[BITS]), 0, width * height);
    local[ORIGIN] = fluid_pair(fluid, SITE_TILE_OFFSET, x, y);
    eden_value form = local[ORIGIN] == EDEN_NONE ? EDEN_NONE : fluid_new(fluid, eden_new(m, fluid->sites[site]));
    if (form == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, form, FORM_BITS, local[BITS]);
    eden_slot_set(m, form, FORM_WIDTH, eden_int((int64_t)width));
    eden_slot_set(m, form, FORM_HEIGHT, eden_int((int64_t)height));
    eden_slot_set(m, form, FORM_DEPTH, eden_int(8));
    eden_slot_set(m, form, FORM_OFFSET, local[ORIGIN]);
    local[FORM_MADE] = form;
    return true;
}

bool display_make(struct fluid *fluid) {
    EDEN_FRAME(fluid->mutator, local, LOCALS);
    bool done = form_make(fluid, local, SITE_DISPLAY, TILE * fluid_cells_wide(fluid), TILE * fluid_cells_high(fluid),
                          eden_int(0), eden_int(0));
    fluid->roots[ROOT_DISPLAY] = local[FORM_MADE];
    return done;
}

static int64_t cut(int64_t pixel) { return pixel < 0 ? 0 : pixel > TILE ? TILE : pixel; }
static int64_t int_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }

/* DRAWN becomes the Rectangle that a particle fills, relative to its tile. */
static bool bounds_make(struct fluid *fluid, eden_value *local, eden_value position) {
    double side = support / TILE;
    int64_t x = (int64_t)(point_x(position) / side) % TILE, y = (int64_t)(point_y(position) / side) % TILE;
    local[ORIGIN] = fluid_pair(fluid, SITE_BOUNDS_CORNER, eden_int(cut(x - RADIUS)), eden_int(cut(y - RADIUS)));
    if (local[ORIGIN] == EDEN_NONE) {
        return false;
    }
    local[CORNER] = fluid_pair(fluid, SITE_BOUNDS_CORNER, eden_int(cut(x + RADIUS + 1)), eden_int(cut(y + RADIUS + 1)));
    if (local[CORNER] == EDEN_NONE) {
        return false;
    }
    local[DRAWN] = fluid_new(fluid, eden_new(fluid->mutator, fluid->sites[SITE_BOUNDS]));
    if (local[DRAWN] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(fluid->mutator, local[DRAWN], RECTANGLE_ORIGIN, local[ORIGIN]);
    eden_slot_set(fluid->mutator, local[DRAWN], RECTANGLE_CORNER, local[CORNER]);
    return true;
}

/* Fills DRAWN. Does not collect. */
static void fill(struct fluid *fluid, const eden_value *local, eden_value velocity) {
    double squared = point_x(velocity) * point_x(velocity) + point_y(velocity) * point_y(velocity);
    uint8_t colour = (uint8_t)(squared < 63.0 ? 1.0 + 4.0 * squared : 255.0);
    eden_value origin = eden_slot(local[DRAWN], RECTANGLE_ORIGIN), corner = eden_slot(local[DRAWN], RECTANGLE_CORNER);
    size_t width = (size_t)(int_at(corner, POINT_X) - int_at(origin, POINT_X));
    uint8_t *bits = eden_raw(eden_slot(local[FORM_MADE], FORM_BITS));
    for (int64_t y = int_at(origin, POINT_Y); y < int_at(corner, POINT_Y); y++) {
        memset(bits + y * TILE + int_at(origin, POINT_X), colour, width);
        fluid->pixels += width;
    }
}

/* Copies the tile to the display, and into the checksum (FNV-1a). Does not collect. */
static void show(struct fluid *fluid, eden_value tile) {
    eden_value offset = eden_slot(tile, FORM_OFFSET), display = fluid->roots[ROOT_DISPLAY];
    const uint8_t *from = eden_raw(eden_slot(tile, FORM_BITS));
    int64_t width = int_at(display, FORM_WIDTH);
    uint8_t *to =
        (uint8_t *)eden_raw(eden_slot(display, FORM_BITS)) + int_at(offset, POINT_Y) * width + int_at(offset, POINT_X);
    for (int64_t y = 0; y < TILE; y++) {
        memcpy(to + y * width, from + y * TILE, TILE);
    }
    for (size_t i = 0; i < (size_t)TILE * TILE; i++) {
        fluid->checksum = (fluid->checksum ^ from[i]) * 0x100000001B3u;
    }
}

static bool draw_cell(struct fluid *fluid, eden_value *local, size_t index) {
    size_t wide = fluid_cells_wide(fluid);
    if (!form_make(fluid, local, SITE_TILE, TILE, TILE, eden_int((int64_t)(index % wide) * TILE),
                   eden_int((int64_t)(index / wide) * TILE))) {
        return false;
    }
    int64_t count = int_at(local[CELL], 0);
    for (int64_t i = 1; i <= count; i++) {
        if (!bounds_make(fluid, local, eden_slot(eden_slot(local[CELL], (size_t)i), PARTICLE_POSITION))) {
            return false;
        }
        fill(fluid, local, eden_slot(eden_slot(local[CELL], (size_t)i), PARTICLE_VELOCITY));
    }
    show(fluid, local[FORM_MADE]);
    return true;
}

bool display_draw(struct fluid *fluid) {
    EDEN_FRAME(fluid->mutator, local, LOCALS);
    eden_value display = fluid->roots[ROOT_DISPLAY];
    memset(eden_raw(eden_slot(display, FORM_BITS)), 0,
           (size_t)(int_at(display, FORM_WIDTH) * int_at(display, FORM_HEIGHT)));
    for (size_t i = 0; i < eden_slot_count(fluid->roots[ROOT_MAP]); i++) {
        local[CELL] = eden_slot(fluid->roots[ROOT_MAP], i);
        if (local[CELL] != EDEN_NONE && !draw_cell(fluid, local, i)) {
            return false;
        }
    }
    return true;
}
