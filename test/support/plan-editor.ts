// The editor of a plan, as a person uses it.
import type { Page } from 'playwright-core';

export function formula(page: Page) {
  return page.getByRole('textbox', { name: 'Formula', exact: true });
}

/** Replaces the text of an editor, as a person does. */
export async function typeFormula(page: Page, text: string): Promise<void> {
  await formula(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

export async function openRule(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('region', { name: 'Rules' }).getByRole('button', { name }).click();
  await formula(page).waitFor();
}

export async function savePlan(page: Page, version: number): Promise<void> {
  await page.getByRole('button', { name: 'Save a version' }).click();
  await page.getByRole('button', { name: `Save version ${version}` }).click();
}
