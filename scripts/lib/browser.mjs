// Headless Chromium for the demo and the tests, kept off the network.
import { chromium as driver } from 'playwright-core';
import { chromium } from '../steps/chromium.mjs';

const args = [
  '--no-sandbox', // containers and CI run as root
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser, with a fresh profile of its own. */
export async function launch() {
  return driver.launch({ executablePath: await chromium(), args });
}

/**
 * Starts the browser with an extension that is not packed. Chromium loads one in its new headless mode only.
 * @param {string} extension its folder
 * @param {string} profile an empty folder
 */
export async function launchWithExtension(extension, profile) {
  return driver.launchPersistentContext(profile, {
    executablePath: await chromium(),
    headless: false,
    args: [
      '--headless=new',
      ...args,
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
      `--disable-extensions-except=${extension}`,
      `--load-extension=${extension}`,
    ],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
}
