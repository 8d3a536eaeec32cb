/** Tests how sections are drawn on the map. Columns must exist, classes must not overlap, and colours must be distinct for colour-blind users. */
import { describe, expect, it } from 'vitest';
import { drawingsOf } from '../../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { LEGENDS } from '../../pipelines/deliver/tiles.ts';

type Matrix = readonly (readonly [number, number, number])[];

/** Transformations of linear RGB for normal vision, and without one kind of cone (Machado, Oliveira and Fernandes 2009). */
const SEEN: Readonly<Record<string, Matrix>> = {
  'by most people': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  'without red cones': [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  'without green cones': [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};

/** Distance in CIE Lab from which two adjacent areas are distinguishable. The just noticeable difference is 2.3. */
const APART = 7;

/** Returns the CIE Lab of a perceived colour. */
function labOf(color: string, matrix: Matrix): readonly number[] {
  const linear = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  const [red = 0, green = 0, blue = 0] = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, weight, index) => sum + weight * linear[index]!, 0))));
  const [x, y, z] = [
    (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
    0.2126 * red + 0.7152 * green + 0.0722 * blue,
    (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
  ].map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116)) as [number, number, number];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe('a section on the map', () => {
  const drawn = SECTIONS.flatMap(({ name: section, flat }) => (
    Object.entries(drawingsOf(section)).map(([name, layer]) => ({ name, flat, layer, legend: LEGENDS.find((each) => each.name === name)! }))
  ));

  it('contributes to a total of more than ten layers', () => {
    expect(drawn.length).toBeGreaterThan(10);
  });

  it.each(drawn)('is drawn from existing columns: $name', ({ flat, layer }) => {
    expect(Object.keys(flat)).toEqual(expect.arrayContaining([layer.value, ...(layer.coverage === undefined ? [] : [layer.coverage])]));
  });

  it.each(drawn)('has consecutive classes without gap or overlap: $name', ({ legend: { kind, classes } }) => {
    expect(classes.length).toBeGreaterThan(1);
    expect(new Set(classes.map(({ label }) => label)).size).toBe(classes.length);
    if (kind === 'number') {
      expect([classes[0]!.from, classes.at(-1)!.to]).toEqual([null, null]);
      for (const [index, { from }] of classes.slice(1).entries()) {
        const before = classes[index]!;
        expect([from, from! > (before.from ?? -Infinity)]).toEqual([before.to, true]);
      }
    } else {
      expect(new Set(classes.map(({ value }) => value)).size).toBe(classes.length);
    }
  });

  it.each(drawn.flatMap(({ name, legend }) => Object.keys(SEEN).map((eyes) => ({ name, eyes, legend }))))('has colours that are distinguishable $eyes, including those for none and not mapped: $name', ({ eyes, legend }) => {
    // An empty list is drawn as none, like the class for the count 0.
    const colors = [...new Set([...legend.classes.map(({ color }) => color), legend.none!.color, legend.not_mapped!.color])];
    expect(colors.filter((color) => !/^#[0-9a-f]{6}$/.test(color))).toEqual([]);
    const alike = colors.flatMap((color, index) => colors.slice(0, index).filter((other) => {
      const [one, two] = [labOf(color, SEEN[eyes]!), labOf(other, SEEN[eyes]!)];
      return Math.hypot(...one.map((value, at) => value - two[at]!)) < APART;
    }).map((other) => `${other} ${color}`));
    expect(alike).toEqual([]);
  });
});
