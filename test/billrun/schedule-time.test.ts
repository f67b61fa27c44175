// When a local time is, in every time zone, over every change of its clocks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueInstant } from '../../src/jobs/schedule-step.ts';
import { type Change, changesOf } from '../support/clock-changes.ts';

const changes = Intl.supportedValuesOf('timeZone').flatMap(changesOf);

/** What a clock shows that runs so far ahead of UTC. */
function shown(at: Temporal.Instant, offsetMs: number): Temporal.PlainDateTime {
  return at.add({ milliseconds: offsetMs }).toZonedDateTimeISO('UTC').toPlainDateTime();
}

const text = (local: Temporal.PlainDateTime) => local.toString({ smallestUnit: 'second' });

function due(change: Change, local: Temporal.PlainDateTime): Temporal.Instant {
  const now = change.at.subtract({ hours: 72 });
  return dueInstant(text(local), now, change.timezone);
}

test('a time that a change skips moves forward by the gap', () => {
  const gaps = changes.filter(({ beforeMs, afterMs }) => afterMs > beforeMs);
  assert.ok(gaps.length > 500, `${gaps.length} gaps`);
  for (const change of gaps) {
    const gapMs = change.afterMs - change.beforeMs;
    // The clock jumps from this to that; half-way between was never shown.
    const skipped = shown(change.at, change.beforeMs).add({ milliseconds: gapMs / 2 });
    const expected = change.at.add({ milliseconds: gapMs / 2 });
    const label = `${change.timezone} ${text(skipped)}`;
    assert.ok(due(change, skipped).equals(expected), label);
  }
});

test('a time that occurs twice is the first of the two', () => {
  const folds = changes.filter(({ beforeMs, afterMs }) => afterMs < beforeMs);
  assert.ok(folds.length > 500, `${folds.length} folds`);
  for (const change of folds) {
    const foldMs = change.beforeMs - change.afterMs;
    const twice = shown(change.at, change.afterMs).add({ milliseconds: foldMs / 2 });
    const expected = change.at.subtract({ milliseconds: foldMs / 2 });
    const label = `${change.timezone} ${text(twice)}`;
    assert.ok(due(change, twice).equals(expected), label);
  }
});

test('around a change every time that clocks show is due at it, and later ones later', () => {
  let skipped = 0;
  for (const change of changes.filter((_, index) => index % 7 === 0)) {
    const gapMs = change.afterMs - change.beforeMs;
    const [left, entered] = [shown(change.at, change.beforeMs), shown(change.at, change.afterMs)];
    let last = change.at.subtract({ hours: 48 });
    for (let minutes = -300; minutes <= 300; minutes += 30) {
      const local = left.add({ minutes });
      const at = due(change, local);
      const label = `${change.timezone} ${text(local)}`;
      const { compare } = Temporal.PlainDateTime;
      if (compare(local, left) >= 0 && compare(local, entered) < 0) {
        // Never shown: it is due with the time to which the gap moves it.
        assert.ok(at.equals(due(change, local.add({ milliseconds: gapMs }))), label);
        skipped += 1;
        continue;
      }
      const clock = at.toZonedDateTimeISO(change.timezone).toPlainDateTime();
      assert.ok(clock.equals(local), `${label} is due when clocks show ${text(clock)}`);
      assert.ok(Temporal.Instant.compare(at, last) > 0, `${label} is not due later`);
      last = at;
    }
  }
  assert.ok(skipped > 100, `${skipped} times were skipped`);
});

test('nothing, now and the past are now; a year and a day ahead is the last', () => {
  const now = Temporal.Instant.from('2026-03-08T12:00:00Z');
  const zone = 'America/New_York';
  for (const sent of [null, undefined, '', '2026-03-08T08:00:00', '1999-01-01T00:00:00']) {
    assert.ok(dueInstant(sent, now, zone).equals(now), String(sent));
  }
  assert.ok(Temporal.Instant.compare(dueInstant('2027-03-09T08:00:00', now, zone), now) > 0);
  assert.throws(() => dueInstant('2027-03-09T08:00:01', now, zone), { code: 'SCHEDULE_TOO_FAR' });
  assert.throws(() => dueInstant('2027-01-01T00:00:00Z', now, zone), { code: 'INVALID_DATETIME' });
});
