/** Function words of the languages the stop-word library does not list well, and of some it does not list. */
const list = (words: string): ReadonlyArray<string> => words.split(/\s+/)

/** Lucene's EnglishAnalyzer. */
export const english = list(
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this " +
    "to was will with"
)

/** Function words that Lucene keeps as terms, for telling English from other languages. */
export const moreEnglish = list(
  "we you your our he she his her its from which what when where who how have has had been were can may would should " +
    "could than about between during using used each other some any all both more most does did do i my me them those only also else after before above below anyone someone whether versus because while why"
)

export const spanish = list(
  "de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta " +
    "entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros " +
    "ese eso ante ellos e esto mí antes algunos qué unos yo otro otras otra él tanto esa estos mucho quienes nada " +
    "muchos cual poco ella estar estas algunas algo nosotros mi mis tú te ti tu tus ellas es soy eres somos son sea " +
    "sean era eran fue fueron ser sido ha he han había haber está están estaba tiene tienen cuál cómo dónde cuándo"
)

export const hungarian = list(
  "a az és hogy nem is egy ez azt meg mint csak el már még volt de ki be fel le vagy ha van lesz volna sem ezt azok " +
    "ezek amely amelyek ami aki akik amit mert után között alatt szerint majd minden mely ott itt így úgy pedig illetve " +
    "vannak voltak lehet kell ennek annak ebben abban erre arra valamint igen ő én mi ti ők sok több olyan ilyen nagyon"
)

export const turkish = list(
  "ve bir bu da de için ile olarak çok daha gibi olan kadar sonra ama ancak en her ne o şu ki mi mı mu mü ise veya ya " +
    "hem değil var yok göre ben sen biz siz onlar onun bunun bunu şey diye bütün bazı hiç nasıl neden niçin eğer çünkü " +
    "tarafından olduğu arasında üzerinde önce ayrıca üzere"
)

export const romanian = list(
  "de la și şi în a o un pe cu din care nu ce mai sau este sunt al ai ale cel cea cei cele lui lor ei el ea pentru prin " +
    "fi a fost era au are am ca că să se și-a dar dacă după până între despre fără sub spre iar nici doar foarte acest " +
    "această acestea aceste unei unui unor ar fi îi îl le li ne vă te mă când cum unde"
)

export const ukrainian = list(
  "і й та в у на з що не до за як це він вона воно вони ми ви я ти його її їх але або чи від для про по при під над " +
    "між після через був була було були є бути який яка яке які цей ця ці той те ж же би б так ні тільки також ще вже " +
    "де коли щоб якщо із зі"
)

/** Lucene's CzechAnalyzer, without the nouns and adjectives that pages of the web are full of. */
export const czech = list(
  "a aby ačkoli ale ani asi až bez budem budeš bude budou by byl byla byli bylo být co což či do ho i já jak jako jakmile " +
    "jako je jeho jehož jej její jejich jelikož jemu jen jenž ještě ji jí jich jimi jím již jsem jseš jsi jsme jsou jste k kam kde kdo " +
    "když ke která které který kteří kterou ku má máte mě mezi mi mít mne mně můj může my na nad nám nás náš naši ne nebo nebyl " +
    "není než ni nic nimi o od on ona oni ono ony pak po pod podle pokud pouze právě pro proč proto protože před přes při přičemž " +
    "s se si své svůj svých svým svými ta tak také takže tato te tě tedy těm těmu ten tento ti tím tímto to toho tohle tohoto tom " +
    "tomto tomu tomuto toto tu tuto ty tyto u už v vám vás váš vaše ve více však vy z za zda zde ze že"
)

/** Lucene's ArabicAnalyzer; longer lists have days, numbers and years among them. */
export const arabic = list(
  "من ومن منها منه في وفي فيها فيه و ف ثم او أو ب بها به ا أ اى اي أي أى لا ولا الا ألا إلا لكن ما وما كما فما عن مع اذا إذا " +
    "ان أن إن انها أنها إنها انه أنه إنه بان بأن فان فأن وان وأن وإن التى التي الذى الذي الذين الى الي إلى إلي على عليها عليه اما أما " +
    "إما ايضا أيضا كل وكل لم ولم لن ولن هى هي هو وهى وهي وهو فهى فهي فهو انت أنت لك لها له هذه هذا تلك ذلك هناك كانت كان يكون " +
    "تكون وكانت وكان غير بعض قد نحو بين بينما منذ ضمن حيث الان الآن خلال بعد قبل حتى عند عندما لدى جميع"
)

export const hindi = list(
  "के का में की है यह और से हैं को पर इस होता कि जो कर मे गया करने किया लिये लिए अपने ने बनी नहीं तो ही या एवं दिया हो इसका " +
    "था द्वारा हुआ तक साथ करना वाले बाद आप कुछ सकते किसी ये इसके सबसे इसमें थे दो होने वह वे करते बहुत वर्ग करें होती अपनी " +
    "उनके थी यदि हुई जा ना इसे कहते जब होते कोई हुए व न अभी जैसे सभी करता उनकी तरह उस आदि कुल रहा इसकी सकता रहे उनका इसी रखें अपना पे उसके"
)

/** Languages without a stemmer here, by ISO 639-1: known, so that they are not taken for a neighbour. */
export const others = {
  pl: list(
    "w i na z do nie się że jest to o od po jak za przez dla oraz są tym być był była było może które który która ich tego lub a ale bez " +
      "co mi nad ona pod ta tak tam ten tu ty"
  ),
  sk: list(
    "a v sa na je že s z do o k aj ako vo za sú by pre po jeho od ktoré ktorý ktorá ktorí bol bola bolo nie alebo aby pri tiež však ale ani " +
      "bez bude byť čo či ešte ho ich ja jej kde kto má medzi mi mu nad než ona pod pred si so som sme ste svoj ta tak takže tam ten " +
      "tento tieto to toto tu tým už ty vy zo keď"
  ),
  // Croatian and Serbian in Latin script
  hr: list(
    "i u je na se da su za od s koji koja koje kao o iz bio bila bilo biti nije ili ali što kako te po do sa ne će bi svi svatko ima pravo kojih svoje između"
  ),
  sl: list(
    "in je v na se za da so z ki pa s tudi kot po ali bi o ne ni od do bil bila bilo biti pri iz ko kateri če še vsak ima pravico svoje svojo ter med"
  ),
  ca: list(
    "de la i que el a en les els per amb del una un no es dels com al més són va ser ha aquest aquesta seva seu però també tota tot aquests aquestes sense sobre entre quan on"
  ),
  et: list("ja on ei et see oli ka kui ta mis aga oma selle või ning kes nii sest siis olid seda mille olla pole veel kuid"),
  lv: list("un ir ar no par uz ka kas tas to bija kā arī lai vai pie pēc gan bet nav tiek viņa tā šī šis līdz kuras"),
  lt: list("ir kad yra su į iš tai buvo kaip per apie nuo bet ar jis jo jos už po dėl tik dar jau taip pat arba kuris kuri"),
  vi: list(
    "và của là các có trong được cho một không với những người này đã khi từ đến để về theo trên tại như ra nhiều năm mọi ai phải bị hay quyền"
  ),
  tl: list("ang ng sa na mga ay at ito ni para siya kung hindi may nang si isang niya kanyang bilang"),
  sw: list("ya na wa kwa ni katika za la kuwa cha vya hii huo yake pia lakini kama au hiyo baada watu"),
  af: list("die van in en het is was dat op te wat nie om met aan vir hy by deur sy as word ook een maar"),
  eu: list("eta da du zen ez bat dira ere egin izan baina edo hau bere dute den zuen ziren"),
  sq: list("të e në dhe i me për një nga që është u si ka më se nuk kjo ky janë ishte por"),
  cy: list("yn y i a o ar yr mae ei gan am wedi oedd ac fel bod hyn sydd neu gyda"),
  ms: list("yang dan di untuk dengan dari pada adalah ini dalam itu ke tidak oleh akan juga ialah atau telah kepada"),
  fa: list("و در به از که این را با است برای آن یک خود تا بر هم نیز شده می های کرد بود شد دارد باید هر یا کس حق نباید کند دارای بدون"),
  ur: list("کے کی میں ہے اور سے کا کو نے یہ پر ہیں کہ اس تھا بھی ایک نہیں ان جو کر ہو گیا تھے لئے"),
  mr: list(
    "आहे आणि या होते हे ते तो ती च व मध्ये आहेत होता होती केले असे एक त्या त्यांनी करून नाही किंवा कोणत्याही कोणतीही त्याला त्याच्या तिच्या आपल्या सर्व असा अशा अशी असेल असलेल्या तसेच जर तर पण म्हणून हा ही"
  ),
  ne: list("छ र को मा ले का छन् थियो हो पनि गर्न गरेको भएको लागि यो यस एक थिए गर्ने भने बाट वा गर्नु हुनेछ हुन्छ प्रत्येक व्यक्तिलाई आफ्नो सबै तथा"),
  sr: list("и у је на се да су за од са који која које као о из био била било бити није или али што како те по до"),
  mk: list(
    "и во на се да е за од со кои која кое како што беше биле не или но по до бил била овој оваа секој има право своето нема може без"
  ),
  be: list("і ў на з што не да за як ён яна яны гэта гэты для па пры ад але або быў была было мае кожны чалавек яго сваёй свае якія якая")
} satisfies Readonly<Record<string, ReadonlyArray<string>>>
