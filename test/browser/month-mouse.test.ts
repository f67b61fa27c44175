// A metered month by mouse, from its term to the closed books, with axe on every screen.
import { after, test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { withMouse } from '../support/hands.ts';
import { openStreet } from '../support/metered-month.ts';
import { tellMoney } from '../support/month-money.ts';
import { monthReadings, tellMonth } from '../support/month-story.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('an operator bills a metered month by mouse and closes it', { skip }, async () => {
  const street = await openStreet(scene, 'month-by-mouse', monthReadings);
  const { page, assertClean } = await openScreen(scene, 'month-by-mouse', '/');
  const story = { hands: withMouse(page), page, street, look: assertAccessible };
  await tellMonth(story);
  await tellMoney(story);
  assertClean();
});
