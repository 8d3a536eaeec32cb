/**
 * Decides whether a newer list of points (fuel stations, schools, pharmacies, places of culture) lacks so many points that the list is probably truncated.
 *
 * Points open and close, so a complete list may have fewer points than the previous list. Few points close at once in one comune, though. A comune with many
 * points that vanishes, or that loses a large part of its points, is therefore missing from the list. The number of comuni alone does not show such a loss,
 * because hundreds of comuni have only one or two points, and some of these comuni vanish in every list. A point that the newer list has in a different comune
 * is not lost. When comuni merge, the points of the former comuni move to the new comune.
 */
import type { PointsOfPlace } from '../db/comparing.ts';

/** Number of comuni of a region that may vanish. In a large region, `COMUNI` of the comuni may vanish. */
const FEW_COMUNI = 5;
const COMUNI = 0.01;
/** Largest number of points of a comune that may vanish. */
const VANISHES = 4;
/** Number of points that may close in a comune that keeps other points. In large comuni, `SHARE` of the points may close. */
const CLOSE = 10;
const SHARE = 0.1;

/** A list that is probably truncated, with the number of comuni or of points before and after. */
export interface Loss {
  readonly figure: 'comuni' | 'points';
  readonly was: number;
  readonly now: number;
  /** Smallest accepted value of `now`. */
  readonly least: number;
  /** Places with lost points, most lost points first. */
  readonly places: readonly PointsOfPlace[];
}

/** Returns the losses of comuni and of points that are too large. Returns none if the newer list is plausible. */
export function lossesOf(places: readonly PointsOfPlace[]): Loss[] {
  const worstFirst = places.filter((place) => lost(place) > 0).sort((a, b) => lost(b) - lost(a));
  // A comune whose points are all in other comuni has not vanished, but was merged or is written differently.
  const before = places.filter((each) => each.was > each.moved);
  const [was, now] = [before.length, before.filter((each) => each.now > 0).length];
  // At least one comune must remain.
  const least = Math.max(Math.min(was, 1), was - Math.max(FEW_COMUNI, Math.ceil(was * COMUNI)));
  const broken = worstFirst.filter((place) => lost(place) > mayLose(place));
  const sum = (of: (place: PointsOfPlace) => number): number => broken.reduce((total, place) => total + of(place), 0);
  return [
    ...(now < least ? [{ figure: 'comuni' as const, was, now, least, places: worstFirst.filter((place) => place.now === 0) }] : []),
    ...(broken.length > 0 ? [{
      figure: 'points' as const, was: sum((place) => place.was), now: sum((place) => place.now), places: broken,
      least: sum((place) => place.was - place.moved - mayLose(place)),
    }] : []),
  ];
}

function lost({ was, now, moved }: PointsOfPlace): number {
  return was - moved - now;
}

function mayLose({ was, now }: PointsOfPlace): number {
  return now === 0 ? VANISHES : Math.max(CLOSE, Math.floor(was * SHARE));
}
