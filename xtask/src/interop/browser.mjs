// Visits the pages of a bridge in real Chromium: node browser.mjs BASE CHROMIUM FOLDER REASON [NAME=PATH]…
// Prints a line for each thing that held, and ends with exit code 1 after the first that did not.
import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [base, executablePath, folder, reason, ...named] = process.argv.slice(2);
// A path may have a query.
const pages = named.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const origin = new URL(base).origin;

function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** A page of a fresh browser profile, with what went wrong in it. */
async function open(browser, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles = [];
  page.on('console', (message) => {
    // Chromium reports the status of a page that says that there is nothing, too.
    const { url } = message.location();
    const isStatus = pages.some(([, path]) => new URL(path, base).href === url);
    if (message.type() === 'error' && !isStatus) troubles.push(`console: ${message.text()} (${url})`);
  });
  page.on('pageerror', (error) => troubles.push(`script: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) troubles.push(`a request leaves the server: ${request.url()}`);
  });
  return { context, page, troubles };
}

async function looks(browser) {
  for (const width of [360, 1280]) {
    for (const colorScheme of ['light', 'dark']) {
      // Only the check is a script; the policy of the pages allows none.
      const options = { viewport: { width, height: 800 }, colorScheme, bypassCSP: true };
      const { context, page, troubles } = await open(browser, options);
      for (const [name, path] of pages) {
        await page.goto(new URL(path, base).href);
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        must(over <= 0, `${name} at ${width} px is ${over} px too wide`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const found = violations.map((one) => `${one.impact}: ${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`);
        must(found.length === 0, `${name} at ${width} px, ${colorScheme}: ${found.join('\n')}`);
      }
      must(troubles.length === 0, troubles.join('\n'));
      await context.close();
      console.log(`ok  ${pages.length} pages at ${width} px, ${colorScheme}: axe finds nothing, no horizontal scroll, no error`);
    }
  }
}

/** The policy holds: a script that is put into the page does not run. */
async function policy(browser) {
  const { context, page } = await open(browser, {});
  for (const [name, path] of pages) {
    await page.goto(new URL(path, base).href);
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.hostile = true';
      document.body.append(script);
      return globalThis.hostile === true;
    });
    must(!ran, `${name}: a script in the page ran`);
  }
  await context.close();
  console.log('ok  a script in a page does not run');
}

/** By keyboard alone and without JavaScript: skip link, search, the provider, its version. */
async function keyboard(browser, colorScheme) {
  const { context, page, troubles } = await open(browser, { javaScriptEnabled: false, colorScheme });
  const focused = () => page.locator(':focus');
  await page.goto(base);
  await page.keyboard.press('Tab');
  must((await focused().getAttribute('href')) === '#content', 'the first TAB reaches the skip link');
  must(await focused().isVisible(), 'the skip link is visible while it has the focus');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  must((await focused().getAttribute('name')) === 'q', 'the search box follows the link to the start page');
  await page.keyboard.type('widget');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=widget/);
  must((await page.locator('#search').inputValue()) === 'widget', 'the search box keeps what was searched');
  for (const wanted of [/\/providers\/[^/]+\/[^/]+\/widget$/, /\/widget\/\d[^/]*$/]) {
    await reach(page, wanted);
    const style = await focused().evaluate((link) => getComputedStyle(link).outlineStyle);
    must(style !== 'none', 'the focus is visible');
    await page.keyboard.press('Enter');
    await page.waitForURL(wanted);
  }
  must((await page.locator('a[download]').count()) > 0, 'the page of a version has downloads');
  must(troubles.length === 0, troubles.join('\n'));
  await context.close();
  console.log(`ok  search, provider and version by keyboard without JavaScript, ${colorScheme}`);
}

/** The table of a provider has its withdrawn version with the reason, and so has the page of that version. */
async function withdrawn(browser) {
  const { context, page } = await open(browser, { javaScriptEnabled: false });
  const paths = new Map(pages);
  await page.goto(new URL(paths.get('mirrored'), base).href);
  const row = await page.locator('tbody tr', { hasText: 'withdrawn' }).innerText();
  must(row.includes('1.0.0') && row.includes(reason), `the row of the withdrawn version: ${row}`);
  const answer = await page.goto(new URL(paths.get('withdrawn'), base).href);
  must(answer.status() === 404, `the page of a withdrawn version has status ${answer.status()}`);
  // There it begins with a capital letter.
  const notice = (await page.locator('.notice').innerText()).toLowerCase();
  must(notice.includes(reason.toLowerCase()), `the page of the withdrawn version says: ${notice}`);
  await context.close();
  console.log('ok  a withdrawn version is in the table with its reason');
}

/** Presses TAB until a link to `wanted` has the focus. */
async function reach(page, wanted) {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const href = await page.locator(':focus').getAttribute('href', { timeout: 2000 }).catch(() => null);
    if (href && wanted.test(href)) return;
  }
  throw new Error(`no TAB reaches ${wanted}`);
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  await looks(browser);
  await policy(browser);
  await withdrawn(browser);
  await keyboard(browser, 'light');
  await keyboard(browser, 'dark');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
}
