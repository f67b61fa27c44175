// The hands of a person at the console: a mouse with a keyboard, or the keyboard alone.
import assert from 'node:assert/strict';
import type { FileChooser, Locator, Page } from 'playwright-core';

export type Hands = {
  page: Page;
  /** A button, a link or a tab. */
  press(target: Locator): Promise<void>;
  /** Replaces what a field holds. */
  type(field: Locator, text: string): Promise<void>;
  /** A date field; as 2026-07-31. */
  typeDate(field: Locator, day: string): Promise<void>;
  chooseFile(field: Locator, file: File): Promise<void>;
};

type File = { name: string; mimeType: string; buffer: Buffer };

export function csvFile(name: string, text: string): File {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
}

export function withMouse(page: Page): Hands {
  return {
    page,
    press: (target) => target.click(),
    type: (field, text) => field.fill(text),
    typeDate: (field, day) => field.fill(day),
    chooseFile: async (field, file) => {
      const chooser = page.waitForEvent('filechooser');
      await field.click();
      await (await chooser).setFiles(file);
    },
  };
}

/** Tab, arrows, Enter and letters. Every step checks that the focus is there to be seen. */
export function withKeyboard(page: Page): Hands {
  const { keyboard } = page;
  return {
    page,
    async press(target) {
      await reach(page, target);
      await keyboard.press('Enter');
      await assertFocused(page);
    },
    async type(field, text) {
      await reach(page, field);
      await keyboard.press('Control+A');
      if (text === '') await keyboard.press('Delete');
      else await keyboard.type(text);
      assert.equal(await field.inputValue(), text);
    },
    async typeDate(field, day) {
      await reach(page, field);
      const [year = '', month = '', date = ''] = day.split('-');
      await keyboard.type(`${month}${date}${year}`);
      assert.equal(await field.inputValue(), day);
    },
    async chooseFile(field, file) {
      await (await openedChooser(page, field)).setFiles(file);
    },
  };
}

/** The browser opens no second one while it closes the first: a person presses again. */
async function openedChooser(page: Page, field: Locator): Promise<FileChooser> {
  for (let tries = 1; ; tries += 1) {
    await reach(page, field);
    const chooser = page.waitForEvent('filechooser', { timeout: 10_000 });
    await page.keyboard.press('Enter');
    try {
      return await chooser;
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

/** More than any screen has. */
const stepsMax = 150;

/** By Tab, or Shift and Tab, whichever way the target lies; among tabs by arrows. */
export async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < stepsMax; step += 1) {
    const way = await target.evaluate(wayTo);
    if (way === 'here') return assertFocused(page);
    await page.keyboard.press(way);
    await assertFocused(page);
  }
  assert.fail(`the keyboard does not reach ${target}`);
}

/** What the functions below use of the page, in which they run. */
type PageElement = {
  compareDocumentPosition(other: unknown): number;
  closest(selector: string): PageElement | null;
  contains(other: unknown): boolean;
  matches(selector: string): boolean;
  getBoundingClientRect(): { top: number; bottom: number; left: number; right: number };
  outerHTML: string;
};
declare const document: { activeElement: PageElement | null; body: PageElement };
declare const innerHeight: number;
declare const innerWidth: number;
declare function getComputedStyle(element: PageElement): {
  outlineStyle: string;
  outlineWidth: string;
};

/** The key that leads from the focused element to another one. */
function wayTo(target: unknown): string {
  const active = document.activeElement;
  if (active === target) return 'here';
  if (active === null || active === document.body) return 'Tab';
  // 4: the target follows.
  const isAfter = (active.compareDocumentPosition(target) & 4) > 0;
  const list = (target as PageElement).closest('[role=tablist]');
  if (list?.contains(active)) return isAfter ? 'ArrowRight' : 'ArrowLeft';
  return isAfter ? 'Tab' : 'Shift+Tab';
}

function isFocusSomewhere(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body;
}

/** What has the focus, and what keeps a person from seeing it. */
function focusSeen(): { html: string; faults: string[] } {
  const active = document.activeElement ?? document.body;
  const { top, bottom, left, right } = active.getBoundingClientRect();
  const { outlineStyle, outlineWidth } = getComputedStyle(active);
  const isField = active.matches('input, textarea, select, iframe, .mantine-Input-input');
  const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
  const isInView = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const isCovered = bottom <= 48 && active.closest('header, nav, a.skip') === null;
  const isMarked = isField || (active.matches(':focus-visible') && hasOutline);
  const faults = [
    isInView ? '' : 'out of view',
    isCovered ? 'under the header' : '',
    isMarked ? '' : 'not marked',
  ];
  return { html: active.outerHTML.slice(0, 200), faults: faults.filter(Boolean) };
}

/** The focus is on an element that is in view, not covered, and marked. */
export async function assertFocused(page: Page): Promise<void> {
  // A dialog that has just opened or closed, and a button that waits for its answer, hand it on.
  const timeout = 5_000;
  const found = await page
    .waitForFunction(isFocusSomewhere, undefined, { timeout })
    .catch(() => {});
  assert.ok(found, `the focus is lost on ${page.url()}`);
  const { html, faults } = await page.evaluate(focusSeen);
  assert.deepEqual(faults, [], html);
}
