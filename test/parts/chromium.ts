import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ROOT } from '../docs/workspace.ts';
import { skipWithout } from './apt.ts';

const SCREENSHOTS = join(ROOT, '.artifacts', 'screenshots');

/** Starts a real Chromium, installed where it is missing; skips the suite, with its reason printed, where that fails. */
export async function startChromium(test: Mocha.Context): Promise<Browser> {
  const executablePath = await skipWithout(test, 'chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** Keeps what a page looks like as `.artifacts/screenshots/NAME.png`. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const path = join(SCREENSHOTS, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path, fullPage: true });
}
