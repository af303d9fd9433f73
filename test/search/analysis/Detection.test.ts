import { assert, describe, it } from "vitest"
import { type AnalyzerId, detect, languageOfQuestion } from "../../../src/search/analysis/Detection.ts"

/** One rule of a house, as its speakers would put it. */
const samples: ReadonlyArray<readonly [AnalyzerId, string]> = [
  ["en", "Travel expenses are paid within ten days of the end of the month, if the receipts have been handed in."],
  ["de", "Reisekosten werden innerhalb von zehn Tagen nach dem Ende des Monats bezahlt, wenn die Belege vorliegen."],
  ["fr", "Les frais de voyage sont payés dans les dix jours qui suivent la fin du mois, si les reçus ont été remis."],
  ["es", "Los gastos de viaje se pagan en los diez días siguientes al final del mes, si se han entregado los recibos."],
  ["pt", "As despesas de viagem são pagas no prazo de dez dias após o fim do mês, se os recibos não faltarem."],
  ["it", "Le spese di viaggio sono pagate entro dieci giorni dalla fine del mese, se le ricevute sono state consegnate."],
  ["nl", "Reiskosten worden binnen tien dagen na het einde van de maand betaald, als de bonnen zijn ingeleverd."],
  ["sv", "Reseräkningar betalas inom tio dagar efter månadens slut, om kvittona har lämnats in och inte saknas."],
  ["da", "Rejseudgifter bliver betalt inden for ti dage efter månedens udgang, hvis bilagene er blevet afleveret af dig."],
  ["no", "Reiseutgifter blir betalt innen ti dager etter månedens slutt, hvis kvitteringene har blitt levert av deg."],
  ["fi", "Matkakulut maksetaan kymmenen päivän kuluessa, jos kuitit ovat mukana ja ne on hyväksytty, mutta ei ennen sitä."],
  ["hu", "Az utazási költségeket a hónap vége után tíz napon belül fizetjük ki, ha a számlák már megvannak, és nem később."],
  ["cs", "Cestovní náklady proplácíme do deseti dnů po konci měsíce, pokud už máme účty, a ne později než v příštím čtvrtletí."],
  ["ro", "Cheltuielile de călătorie sunt plătite în zece zile de la sfârșitul lunii, dacă nu lipsesc chitanțele și au fost predate."],
  ["tr", "Seyahat giderleri ay sonundan sonra on gün içinde ödenir, ancak makbuzlar için bir form da gerekir ve çok önemlidir."],
  ["id", "Biaya perjalanan dibayar dalam sepuluh hari setelah akhir bulan, jika kuitansi sudah diserahkan dan tidak kurang."],
  ["ru", "Расходы на поездки оплачиваются в течение десяти дней после конца месяца, если все чеки были сданы."],
  ["uk", "Витрати на поїздки оплачуються протягом десяти днів після кінця місяця, якщо чеки вже здано і їх не бракує."],
  ["bg", "Пътните разходи се изплащат до десет дни след края на месеца, ако са предадени всички бележки и няма липси."],
  ["el", "Τα έξοδα ταξιδιού πληρώνονται μέσα σε δέκα ημέρες από το τέλος του μήνα, αν και οι αποδείξεις."],
  ["ar", "تدفع مصاريف السفر خلال عشرة أيام من نهاية الشهر إذا تم تسليم الإيصالات إلى المكتب."],
  ["hi", "यात्रा का खर्च महीने के अंत के बाद दस दिन में दिया जाता है और रसीद के साथ।"],
  ["cjk", "旅费在月底后十天内支付，前提是收据已交到 Finance 办公室。"],
  ["cjk", "出張費は月末から十日以内に支払われます。"],
  ["cjk", "출장비는 월말로부터 열흘 이내에 지급됩니다."],
  ["simple", "Koszty podróży są wypłacane do dziesięciu dni od końca miesiąca, jeśli nie ma braków i to jest zgodne, oraz dla wszystkich."],
  ["code", "export const total = (rows) => {\n  let sum = 0;\n  for (const row of rows) sum += row.amount;\n  return sum;\n};\n"],
  [
    "code",
    "import os\n\ndef total(rows):\n    # the sum of all the rows\n    amount = 0\n    for row in rows:\n        amount += row.amount\n    return amount\n"
  ]
]

describe("detect", () => {
  it.each(samples)("%s: %s", (analyzer, text) => {
    assert.strictEqual(detect(text), analyzer)
  })

  it("goes by the hint where the words do not tell, and else by the script", () => {
    assert.strictEqual(detect("Reisekosten"), "en")
    assert.strictEqual(detect("Reisekosten", { hint: "de-AT" }), "de")
    assert.strictEqual(detect("Reisekosten", { hint: "code" }), "en")
    assert.strictEqual(detect("Reiseutgifter", { hint: "nb" }), "no")
    assert.strictEqual(detect("Müller"), "simple")
    assert.strictEqual(detect("Отпуск"), "ru")
    assert.strictEqual(detect("2024-01-01"), "en")
    assert.strictEqual(detect(""), "en")
  })

  it("believes a hint until there is twice the evidence against it", () => {
    const english = samples[0]![1]
    assert.strictEqual(detect(english, { hint: "de" }), "en")
    assert.strictEqual(detect("Die Regel heißt „the early bird“ und ist in dem Haus bekannt", { hint: "de" }), "de")
  })

  it("takes no text for a language that is not written so, whatever the hint", () => {
    assert.strictEqual(detect("Отпуск оформляют заранее", { hint: "en" }), "ru")
    assert.strictEqual(detect("Bosch GmbH, Robert Koch", { hint: "ru" }), "ru")
  })

  it("knows languages without a stemmer by their codes", () => {
    assert.strictEqual(detect("Zwrot", { hint: "pl-PL" }), "simple")
    assert.strictEqual(detect("Zwrot", { hint: "xx" }), "en")
  })

  it("does not take names, initials and formulas for function words", () => {
    assert.strictEqual(detect("Los Angeles, Las Vegas, El Paso and La Jolla"), "en")
    assert.strictEqual(detect("equations for d c d c converters and a v l f transmitter"), "en")
  })

  it("does not take prose with a semicolon for code", () => {
    assert.strictEqual(detect("First, book the room;\nthen invite the others.\nThe host pays (always);\nnobody else does."), "en")
  })
})

describe("texts with few function words of their own", () => {
  it("takes Thai for Thai, whatever foreign names stand in it", () => {
    assert.strictEqual(detect("การประชุมเรื่อง COVID-19 ของ WHO and the European Union ที่ Geneva เมื่อวันที่ 5"), "simple")
    assert.strictEqual(detect("สมการ Σ และ Λ ในวิชาฟิสิกส์"), "simple")
  })

  it("tells Czech from its neighbours", () => {
    assert.strictEqual(detect("Příručka uživatele: připojení a měření tiskáren"), "cs")
    assert.strictEqual(detect("Cestovné náklady preplácame do desiatich dní po konci mesiaca, keď už máme účty, a nie neskôr."), "simple")
    assert.strictEqual(detect("Koszty podróży zwracamy w ciągu dziesięciu dni po końcu miesiąca, o ile są już rachunki."), "simple")
  })

  it("tells Turkish and Romanian by their letters", () => {
    assert.strictEqual(detect("İstanbul Büyükşehir Belediyesi ulaşım ağı güzergâhları: Kadıköy, Üsküdar, Beşiktaş"), "tr")
    assert.strictEqual(detect("Universitatea Babeș-Bolyai, Facultatea de Științe Economice, secția științe"), "ro")
  })

  it("goes by the script that most letters are in", () => {
    assert.strictEqual(detect("Values of ΔΣ, ΛΩ in tables 1, 2, 3: resistance, capacity"), "en")
    assert.strictEqual(detect("Καλημέρα κόσμε Python"), "el")
  })
})

describe("what most of the corpus is in", () => {
  it("is what a text is taken for that does not tell", () => {
    assert.strictEqual(detect("Reisekosten", { prior: "de" }), "de")
    assert.strictEqual(detect("Müller, Koch", { prior: "de" }), "de")
    assert.strictEqual(detect("Bosch GmbH, Robert Koch", { prior: "el" }), "en")
    assert.strictEqual(detect("iPhone 15 Pro, Galaxy S24", { prior: "simple" }), "simple")
    assert.strictEqual(detect("Türkiye'de Google Chrome", { prior: "tr" }), "tr")
  })

  it("yields to the document's own, to the script, and to what the words say", () => {
    assert.strictEqual(detect("Reisekosten", { hint: "de", prior: "en" }), "de")
    assert.strictEqual(detect("Отпуск", { prior: "en" }), "ru")
    for (const [analyzer, text] of samples) assert.strictEqual(detect(text, { prior: analyzer === "en" ? "de" : "en" }), analyzer, text)
  })

  it("yields to letters of another language where words are with them", () => {
    assert.strictEqual(detect("Kadıköy ve Beşiktaş, Üsküdar, Şişli", { prior: "en" }), "tr")
    assert.strictEqual(detect("Dvořák, Čapek, Škvorecký", { prior: "en" }), "en")
  })
})

describe("languages that share an alphabet", () => {
  it.each([
    ["uk", "Кожна людина має право на свободу, її захищає закон"],
    ["bg", "Всички хора имат право на свобода и се раждат равни пред закона, което той защитава във всяка държава, бързо"],
    ["simple", "Усі людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах"],
    ["simple", "Сва људска бића рађају се слободна и једнака у достојанству и правима"],
    ["simple", "همه افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند"],
    ["simple", "Mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi"],
    ["simple", "सर्व माणसे जन्मतः स्वतंत्र आणि समान आहेत, त्यांना बुद्धी व विवेक आहे"]
  ])("are told apart: %s: %s", (analyzer, text) => {
    assert.strictEqual(detect(text), analyzer)
  })
})

describe("languageOfQuestion", () => {
  it("finds the language among those at hand, whatever the case", () => {
    assert.strictEqual(languageOfQuestion("WHERE IS THE FORM", ["de", "en", "code"]), "en")
    assert.strictEqual(languageOfQuestion("Wo ist das Formular?", ["de", "en"]), "de")
    assert.strictEqual(languageOfQuestion("Wo ist das Formular?", ["en", "cjk"]), undefined)
    assert.strictEqual(languageOfQuestion("Formular", ["de", "en"]), undefined)
    assert.strictEqual(languageOfQuestion("yangında ne yapılır?", ["ro", "tr"]), undefined, "both have it")
    assert.strictEqual(languageOfQuestion("aparelho de rede", ["en", "pt"]), "pt", "whoever else has it")
    assert.strictEqual(languageOfQuestion("aparelho de rede da AT&T", ["en", "pt"]), "pt", "a name has no words")
  })
})
